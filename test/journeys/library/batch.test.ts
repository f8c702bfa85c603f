// One request changes many assets, each on its own, and says what became of each (contract B2).
import { randomUUID } from 'node:crypto';
import { createMediary } from '@mediary/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectFieldRefused, expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { type AssetJson, IMAGE, openUpload, readAsset } from '../../support/media.ts';
import { runCli } from '../../support/service/cli.ts';
import { rows } from '../../support/service/traces.ts';
import {
  asService,
  asUser,
  call,
  eventually,
  SECRETS,
  startTestService,
  type TestService,
} from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    MEDIARY_ROLE: 'api',
    RATE_LIMIT_PER_OWNER: '60/1h',
    LOG_LEVEL: 'error',
  });
});
afterAll(() => service?.stop());

type Result = {
  items: { id: string; error: { error_code: string; message: string; details: object | null } | null }[];
  failed_count: number;
};

const newUser = () => `user-${randomUUID()}`;
const send = (user: string, json: object, headers: Record<string, string> = {}) =>
  call<Result>(service, 'POST /media/batch', { headers: { ...asUser(user), ...headers }, json });
const change = async (user: string, json: object) => expectSuccess<Result>(await send(user, json));
const codesOf = ({ items }: Result) => items.map(({ error }) => error?.error_code ?? null);

async function make(user: string, count: number, fields: object = {}): Promise<string[]> {
  const made = Array.from({ length: count }, () => openUpload(service, user, { ...IMAGE, ...fields }));
  return (await Promise.all(made)).map(({ asset_id: id }) => id);
}
const typesOf = async (user: string, id: string) =>
  expectSuccess<{ items: { type: string }[] }>(
    await call(service, `GET /media/${id}/timeline`, { headers: asUser(user) }),
  ).items.map(({ type }) => type);

test('tags are added and removed, other members stay, and a repetition changes nothing', async () => {
  const user = newUser();
  const ids = await make(user, 3, { tags: ['a', 'b'], title: 'Mine' });
  const request = { ids, action: 'update', add_tags: ['c', 'a'], remove_tags: ['b'], visibility: 'public' };
  const done = { items: ids.map((id) => ({ id, error: null })), failed_count: 0 };
  expect(await change(user, request)).toEqual(done);
  expect(await change(user, request)).toEqual(done);
  for (const id of ids) {
    expect(await readAsset(service, user, id)).toMatchObject({
      tags: ['a', 'c'],
      title: 'Mine',
      visibility: 'public',
      version: 2,
    });
    expect(await typesOf(user, id)).toEqual(['asset.created', 'asset.updated']);
  }
});

test('an asset that cannot be changed does not stop the others', async () => {
  const user = newUser();
  const [first = '', gone = '', last = ''] = await make(user, 3);
  const [foreign = ''] = await make(newUser(), 1);
  expectSuccess(await call(service, `DELETE /media/${gone}`, { headers: asUser(user) }));
  const ids = [first, foreign, 'no-id', gone, last, first];
  const result = await change(user, { ids, action: 'update', add_tags: ['x'] });
  expect(result.items.map(({ id }) => id)).toEqual(ids.slice(0, -1));
  expect(codesOf(result)).toEqual([null, 'FORBIDDEN', 'NOT_FOUND', 'NOT_FOUND', null]);
  expect(result.failed_count).toBe(3);
  const other = await call<AssetJson>(service, `GET /media/${foreign}`, { headers: asService });
  expect(other.body.data).toMatchObject({ tags: [], version: 1 });
});

test('assets move to the trash, come back, and are deleted for good', async () => {
  const user = newUser();
  const ids = await make(user, 2);
  const countOf = async (query: string) =>
    expectSuccess<{ total: number }>(
      await call(service, `GET /media?count=true&${query}`, { headers: asUser(user) }),
    ).total;
  await change(user, { ids, action: 'trash' });
  expect(await countOf('deleted=true')).toBe(2);
  await change(user, { ids, action: 'restore' });
  expect(await countOf('deleted=true')).toBe(0);
  expect(await countOf('')).toBe(2);
  await change(user, { ids: ids.slice(1), action: 'trash' });
  expect((await change(user, { ids, action: 'delete' })).failed_count).toBe(0);
  expect(codesOf(await change(user, { ids, action: 'restore' }))).toEqual(['NOT_FOUND', 'NOT_FOUND']);
});

test('an asset gets at most 50 tags', async () => {
  const user = newUser();
  const [full = '', empty = ''] = [
    ...(await make(user, 1, { tags: Array.from({ length: 49 }, (_, n) => `t${n}`) })),
    ...(await make(user, 1)),
  ];
  const result = await change(user, { ids: [full, empty], action: 'update', add_tags: ['x', 'y'] });
  expect(result.items[0]?.error).toMatchObject({
    error_code: 'BAD_REQUEST',
    details: { field: 'add_tags', limit: 50 },
  });
  expect(result.items[1]?.error).toBeNull();
});

test('each asset counts as a request of the owner', async () => {
  const user = newUser();
  const [id = ''] = await make(user, 1);
  const ids = [id, ...Array.from({ length: 80 }, () => randomUUID())];
  const codes = codesOf(await change(user, { ids, action: 'trash' }));
  expect(codes[0]).toBeNull();
  expect(codes.filter((code) => code === 'RATE_LIMITED').length).toBeGreaterThan(20);
  expect(codes.filter((code) => code === 'NOT_FOUND').length).toBeLessThan(60);
});

test('a request that the rate limit cut short runs again with its Idempotency-Key', async () => {
  const limited = await startTestService({ MEDIARY_ROLE: 'api', RATE_LIMIT_PER_OWNER: '10/2s' });
  try {
    const json = { ids: Array.from({ length: 60 }, () => randomUUID()), action: 'trash' };
    const headers = { ...asUser(newUser()), 'idempotency-key': randomUUID() };
    const byKey = () => call<Result>(limited, 'POST /media/batch', { headers, json });
    expect(codesOf(expectSuccess(await byKey()))).toContain('RATE_LIMITED');
    const repeated = await eventually(byKey, ({ status }) => status !== 429);
    expect(codesOf(expectSuccess(repeated))[0]).toBe('NOT_FOUND');
    expect(repeated.headers.get('idempotency-replayed')).toBeNull();
  } finally {
    await limited.stop();
  }
});

test('an outage ends the request, and its Idempotency-Key repeats it', async () => {
  const user = newUser();
  const ids = await make(user, 3);
  const headers = { 'idempotency-key': randomUUID() };
  const json = { ids, action: 'update', add_tags: ['x'] };
  await rows(
    service.dataDir,
    `create function refuse_write() returns trigger language plpgsql as
       $$ begin raise exception 'out of memory' using errcode = '53200'; end $$;
     create trigger refuse_write before update on assets for each row
       when (new.id = '${ids[1]}') execute function refuse_write()`,
  );
  const refused = await send(user, json, headers);
  await rows(service.dataDir, 'drop function refuse_write cascade');
  expect(expectRefusal(refused, 503)).toMatchObject({ error_code: 'UNAVAILABLE' });
  expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(codesOf(expectSuccess(await send(user, json, headers)))).toEqual([null, null, null]);
  for (const id of ids) expect(await readAsset(service, user, id)).toMatchObject({ tags: ['x'] });
});

describe('a request that contradicts itself changes nothing', () => {
  test.each([
    [{ ids: [] }, 'ids'],
    [{ ids: Array.from({ length: 101 }, () => randomUUID()) }, 'ids'],
    [{ action: 'archive' }, 'action'],
    [{ action: 'update' }, 'action'],
    [{ action: 'trash', add_tags: ['x'] }, 'add_tags'],
    [{ action: 'delete', visibility: 'public' }, 'visibility'],
    [{ action: 'update', add_tags: [''] }, 'add_tags.0'],
    [{ action: 'update', add_tags: ['a\u0000'] }, 'add_tags'],
    [{ action: 'update', add_tag: ['x'] }, 'add_tag'],
  ])('%j', async (fields, field) => {
    expectFieldRefused(await send(newUser(), { ids: [randomUUID()], action: 'trash', ...fields }), field);
  });
});

test('a back end names the owner, and repeats a request by its key', async () => {
  const user = newUser();
  const [id = ''] = await make(user, 1);
  const json = { ids: [id], action: 'delete' };
  const headers = { ...asService, 'idempotency-key': randomUUID() };
  expectFieldRefused(await call(service, 'POST /media/batch', { headers: asService, json }), 'owner_user_id');
  const byKey = () =>
    call<Result>(service, 'POST /media/batch', { headers, json: { ...json, owner_user_id: user } });
  expect(codesOf((await byKey()).body.data)).toEqual([null]);
  expect(codesOf((await byKey()).body.data)).toEqual([null]);
});

test('the SDK changes many assets, and so does the command', async () => {
  const user = newUser();
  const ids = await make(user, 2);
  const mediary = createMediary({ baseUrl: service.address, serviceKey: SECRETS.SERVICE_API_KEY });
  const options = { ownerUserId: user };
  const { failed_count: failed } = await mediary.media.changeMany(
    { ids, action: 'update', add_tags: ['sdk'] },
    options,
  );
  expect(failed).toBe(0);
  const env = { MEDIARY_URL: service.address, MEDIARY_SERVICE_KEY: SECRETS.SERVICE_API_KEY };
  const args = ['tag', ...ids, randomUUID(), '--owner', user, '--add', 'cli', '--remove', 'sdk'];
  const tagged = await runCli(args, { folder: service.dataDir, env });
  expect(tagged).toMatchObject({ code: 1, stderr: expect.stringContaining('1 of 3 assets') });
  expect(tagged.stdout.split('\n')).toEqual(
    expect.arrayContaining([`${ids[0]}  tagged`, expect.stringContaining('NOT_FOUND')]),
  );
  for (const id of ids) expect(await readAsset(service, user, id)).toMatchObject({ tags: ['cli'] });
});
