// Operators see who fills the disk: all owners, ranked by what they store, also without quotas.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectFieldRefused, expectRefusal } from '../../support/http/envelope.ts';
import { IMAGE, openUpload } from '../../support/media.ts';
import {
  asOperator,
  asService,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../../support/service.ts';
import { rows } from '../../support/service/traces.ts';

type Owner = Record<string, unknown> & { owner_user_id: string; bytes: number; assets: number };
type Page = { items: Owner[]; next_cursor: string | null };

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  for (const [owner, size_bytes] of [
    ['ann', 100],
    ['ann', 200],
    ['Ben_1', 5000],
    ['cem', 300],
    ['o:d%d', 7],
  ] as const)
    await openUpload(service, owner, { ...IMAGE, size_bytes });
  await count();
});
afterAll(() => service?.stop());

/** Runs the job that counts, as the schedule does. */
async function count(): Promise<void> {
  await rows(service.dataDir, 'delete from owner_counts');
  const { db, jobs } = service.adapters;
  await db.transaction((tx) => jobs.send(tx, 'count-owners', {}));
  await eventually(
    () => rows(service.dataDir, 'select * from owner_counts'),
    ({ length }) => length === 1,
  );
}

const ask = (query = '') => call<Page>(service, `GET /admin/owners${query}`, { headers: asOperator });
const ranked = async (query?: string) =>
  (await ask(query)).body.data.items.map(({ owner_user_id: owner, bytes, assets }) => [owner, bytes, assets]);

test('owners are ranked by their bytes or their assets', async () => {
  expect(await ranked()).toEqual([
    ['Ben_1', 5000, 1],
    ['ann', 300, 2],
    ['cem', 300, 1],
    ['o:d%d', 7, 1],
  ]);
  expect((await ranked('?sort=assets'))[0]).toEqual(['ann', 300, 2]);
  expect(await ranked('?search=b')).toEqual([['Ben_1', 5000, 1]]);
  expect(await ranked('?search=%25')).toEqual([['o:d%d', 7, 1]]);
});

test.each(['bytes', 'assets'])(
  'pages by %s have no gaps, and a cursor is valid for its list only',
  async (sort) => {
    const all = await ranked(`?sort=${sort}`);
    const paged: unknown[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const query: string = `?sort=${sort}&limit=1${cursor && `&cursor=${cursor}`}`;
      paged.push(...(await ranked(query)));
      cursor = (await ask(query)).body.data.next_cursor;
    }
    expect(paged).toEqual(all);
    const { next_cursor: first } = (await ask(`?sort=${sort}&limit=1`)).body.data;
    expectFieldRefused(await ask(`?search=a&sort=${sort}&cursor=${first}`), 'cursor');
  },
);

test('an owner is shown as it is now, with its limits', async () => {
  await call(service, 'PUT /admin/owners/cem/limits', { headers: asOperator, json: { max_bytes: 9000 } });
  await openUpload(service, 'cem', { ...IMAGE, size_bytes: 11 });
  const { body } = await call<Owner>(service, 'GET /admin/owners/cem', { headers: asOperator });
  expect(body.data).toMatchObject({ bytes: 311, assets: 2, pending: 2, max_bytes: 9000, max_assets: null });
  expect((await ask('?search=cem')).body.data.items).toMatchObject([{ bytes: 300, max_bytes: 9000 }]);
  const nobody = await call<Owner>(service, 'GET /admin/owners/nobody', { headers: asOperator });
  expect(nobody.body.data).toMatchObject({ bytes: 0, assets: 0 });
});

test('a count reads every asset of large owners, and forgets owners without assets', async () => {
  await rows(
    service.dataDir,
    `insert into assets (id, owner_user_id, kind, filename, content_type, mime_type, visibility,
                         stream_status, size_bytes, uploaded_at, created_at, updated_at, deleted_at, purge_at)
     select gen_random_uuid(), 'large', 'image', 'a', 'image', 'image/png', 'public', 'ready', 3,
            now(), now(), now(), case when n % 3 = 0 then now() end,
            case when n % 3 = 0 then now() + interval '1 day' end
       from generate_series(1, 2500) as n`,
  );
  await rows(service.dataDir, "update assets set deleted_at = now() where owner_user_id = 'ann'");
  await count();
  expect(await ranked()).toEqual([
    ['large', 7500, 2500],
    ['Ben_1', 5000, 1],
    ['cem', 311, 2],
    ['o:d%d', 7, 1],
  ]);
  const [recounted] = await rows(service.dataDir, "select * from recount_owner_usage('large')");
  expect(recounted).toMatchObject({ assets: 2500, bytes: 7500 });
});

test('assets are counted by state', async () => {
  const { body } = await call<{ items: object[]; total: number }>(service, 'GET /admin/media/counts', {
    headers: asOperator,
  });
  expect(body.data.items).toContainEqual({ stream_status: 'ready', provider: null, asset_count: 1667 });
});

test.each(['limit=0', 'limit=201', 'sort=age', 'search=', 'search=a%00', 'cursor=x'])(
  '%s is rejected',
  async (query) => {
    expectFieldRefused(await ask(`?${query}`), query.slice(0, query.indexOf('=')));
  },
);

test('nobody but an operator sees owners', async () => {
  for (const headers of [{}, asUser('ann'), asService])
    for (const path of ['GET /admin/owners', 'GET /admin/owners/ann', 'GET /admin/media/counts'])
      expectRefusal(await call(service, path, { headers }), 401);
});
