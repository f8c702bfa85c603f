// An application finds its assets by several tags and by members of its metadata (contract B3).
import { createMediary } from '@mediary/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectFieldRefused, expectSuccess } from '../../support/http/envelope.ts';
import { type AssetJson, IMAGE, openUpload } from '../../support/media.ts';
import { runCli } from '../../support/service/cli.ts';
import {
  asOperator,
  asUser,
  call,
  SECRETS,
  startTestService,
  type TestService,
} from '../../support/service.ts';

type Page = { items: AssetJson[]; next_cursor: string | null; total?: number };

let service: TestService;
let spring: string;
let summer: string;
let bare: string;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
  const open = async (fields: object) => (await openUpload(service, 'ann', { ...IMAGE, ...fields })).asset_id;
  spring = await open({
    tags: ['launch', 'berlin'],
    metadata: { order_id: 1042, campaign: 'spring', live: true },
  });
  summer = await open({
    tags: ['launch', 'rome'],
    metadata: { order_id: '1042', campaign: { name: 'summer' } },
  });
  bare = await open({});
  await openUpload(service, 'ben', { ...IMAGE, tags: ['launch'], metadata: { order_id: 1042 } });
});
afterAll(() => service.stop());

const ask = (query: string) => call<Page>(service, `GET /media?${query}`, { headers: asUser('ann') });
const idsOf = ({ items }: Pick<Page, 'items'>) => items.map(({ id }) => id);
const find = async (query: string) => idsOf(expectSuccess<Page>(await ask(query)));

test('all of several tags, or any of them', async () => {
  expect(await find('tag=launch')).toEqual([summer, spring]);
  expect(await find('tag=launch&tag=berlin')).toEqual([spring]);
  expect(await find('tag=rome&tag=berlin')).toEqual([]);
  expect(await find('tag=rome&tag=berlin&tag_match=any')).toEqual([summer, spring]);
  expect(await find('tag_match=any')).toEqual([bare, summer, spring]);
});

test('members of metadata: text, numbers and booleans on the first level', async () => {
  expect(await find('metadata[order_id]=1042')).toEqual([summer, spring]);
  expect(await find('metadata%5Border_id%5D=1042&metadata[campaign]=spring')).toEqual([spring]);
  expect(await find('metadata[live]=true')).toEqual([spring]);
  for (const none of ['metadata[order_id]=104', 'metadata[campaign]=summer', 'metadata[name]=summer'])
    expect(await find(none), none).toEqual([]);
  expect(await find('metadata[order_id]=1042&tag=rome&kind=image')).toEqual([summer]);
});

test('pages and counts keep the filter, and a cursor belongs to it', async () => {
  const first = expectSuccess<Page>(await ask('metadata[order_id]=1042&limit=1&count=true'));
  expect([idsOf(first), first.total]).toEqual([[summer], 2]);
  expect(await find(`metadata[order_id]=1042&limit=1&cursor=${first.next_cursor}`)).toEqual([spring]);
  for (const other of ['metadata[order_id]=1043', 'tag=launch', 'metadata[order_id]=1042&tag=launch'])
    expectFieldRefused(await ask(`${other}&cursor=${first.next_cursor}`), 'cursor');
});

test.each([
  ['tag=', 'tag.0'],
  [Array.from({ length: 11 }, (_, n) => `tag=t${n}`).join('&'), 'tag'],
  ['tag=a&tag_match=some', 'tag_match'],
  ['metadata=a', 'metadata'],
  ['metadata[a]=1&metadata[a]=2', 'metadata.a'],
  ['metadata[]=a', 'metadata[]'],
  [`metadata[a]=${'x'.repeat(256)}`, 'metadata.a'],
  [`metadata[${'x'.repeat(256)}]=a`, `metadata[${'x'.repeat(256)}]`],
  [Array.from({ length: 6 }, (_, n) => `metadata[m${n}]=a`).join('&'), 'metadata'],
])('%s is refused, and names the member', async (query, field) => {
  expectFieldRefused(await ask(query), field);
});

test('names that JavaScript or SQL could take for their own are names', async () => {
  for (const name of ['__proto__', 'constructor', "a'b", 'a"b', 'a]b', '{'])
    expect(await find(`metadata[${encodeURIComponent(name)}]=x`), name).toEqual([]);
});

test('operators, the SDK and the command find the same', async () => {
  const all = await call<Page>(service, 'GET /admin/media?metadata[order_id]=1042&tag=launch', {
    headers: asOperator,
  });
  expect(expectSuccess<Page>(all).items).toHaveLength(3);
  const mediary = createMediary({ baseUrl: service.address, serviceKey: SECRETS.SERVICE_API_KEY });
  const filters = { tag: ['rome', 'berlin'], tag_match: 'any', metadata: { order_id: '1042' } } as const;
  const listed = await mediary.media
    .list({ ...filters, tag: [...filters.tag] }, { ownerUserId: 'ann' })
    .page();
  expect(idsOf(listed)).toEqual([summer, spring]);
  const one = await mediary.media.list({ tag: 'rome' }, { ownerUserId: 'ann' }).page();
  expect(idsOf(one)).toEqual([summer]);

  const env = {
    MEDIARY_URL: service.address,
    MEDIARY_SERVICE_KEY: SECRETS.SERVICE_API_KEY,
    MEDIARY_OPERATOR_KEY: SECRETS.OPERATOR_KEY,
  };
  const run = async (...args: string[]) =>
    JSON.parse((await runCli(['ls', '--json', ...args], { folder: service.dataDir, env })).stdout) as Page;
  const flags = ['--tag', 'rome', '--tag', 'berlin', '--any-tag', '--metadata', 'order_id=1042'];
  expect(idsOf(await run('--owner', 'ann', ...flags))).toEqual([summer, spring]);
  expect(idsOf(await run('--all-owners', ...flags))).toEqual([summer, spring]);
});
