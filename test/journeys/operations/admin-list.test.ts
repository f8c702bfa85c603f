// Operators list the assets of all owners, with the filters of the owners' own list (contract B3, B9).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectFieldRefused, expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { type AssetJson, IMAGE, openUpload } from '../../support/media.ts';
import {
  asOperator,
  asService,
  asUser,
  call,
  startTestService,
  type TestService,
} from '../../support/service.ts';

type Page = { items: AssetJson[]; next_cursor: string | null; total?: number };

let service: TestService;
let ids: string[];
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
  ids = [];
  for (const [owner, fields] of [
    ['ann', {}],
    ['ben', { ...IMAGE, tags: ['red'] }],
    ['ann', { title: 'Launch' }],
    ['cem', {}],
  ] as const)
    ids.push((await openUpload(service, owner, fields)).asset_id);
});
afterAll(() => service?.stop());

const ask = (query = '', headers: Record<string, string> = asOperator) =>
  call<Page>(service, `GET /admin/media${query}`, { headers });
const pageOf = async (query?: string): Promise<Page> => expectSuccess(await ask(query)) as Page;
const listed = async (query?: string) => (await pageOf(query)).items.map(({ id }) => id);
const made = (...places: number[]) => places.map((place) => ids[place]);

test('lists the assets of all owners, newest first, as their owners see them, with legal holds', async () => {
  const { items } = await pageOf();
  expect(items.map(({ id }) => id)).toEqual([...ids].reverse());
  const { body } = await call<AssetJson>(service, `GET /media/${ids[0]}`, { headers: asUser('ann') });
  expect(items[3]).toEqual({ ...body.data, legal_hold: false });
});

test('filters narrow the list', async () => {
  expect(await listed('?owner_user_id=ann')).toEqual(made(2, 0));
  expect(await listed('?owner_user_id=nobody')).toEqual([]);
  expect(await listed('?kind=image&tag=red')).toEqual(made(1));
  expect(await listed('?q=launch&status=pending_upload')).toEqual(made(2));
  expect(await listed('?sort=created_at')).toEqual(ids);
  expect((await pageOf('?count=true&limit=1')).total).toBe(4);
});

test('pages have no gaps, and a cursor is valid for its filters only', async () => {
  const first = await pageOf('?limit=3');
  const cursor = first.next_cursor;
  expect((await pageOf(`?limit=3&cursor=${cursor}`)).items.map(({ id }) => id)).toEqual(made(0));
  expectFieldRefused(await ask(`?owner_user_id=ann&cursor=${cursor}`), 'cursor');
  const own = await call(service, `GET /media?cursor=${cursor}`, { headers: asUser('ann') });
  expectFieldRefused(own, 'cursor');
});

test.each([
  ['no key', {}],
  ["a user's token", asUser('ann')],
  ['the service key', asService],
])('%s is rejected as a credential', async (_who, headers) => {
  expectRefusal(await ask('', headers), 401);
});

test.each(['owner_user_id=', 'owner_user_id=a%00b', 'limit=0', 'cursor=x', 'provider=nobody'])(
  '%s is rejected',
  async (query) => {
    expectFieldRefused(await ask(`?${query}`), query.slice(0, query.indexOf('=')));
  },
);
