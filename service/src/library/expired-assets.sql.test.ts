// Tests that the jobs and lists of expiring assets read their own index, however many assets there are.
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestPostgres, type TestPostgres } from '../../../test/support/postgres/postgres.ts';
import { buffersOf, explain } from '../../../test/support/postgres/query-plans.ts';
import { sessionOptions } from '../platform/postgres/database.ts';
import { ASSET_EXPIRY_START, findExpiredAssets } from './library.sql.ts';
import { listAssets } from './list.sql.ts';

const ASSETS = 40_000;
/** One asset of so many expires, half of these soon. */
const EVERY = 200;

let server: TestPostgres;
let client: pg.Client;
beforeAll(async () => {
  server = await startTestPostgres();
  const connection = await server.migrated();
  client = new pg.Client({ ...connection, options: sessionOptions() });
  await client.connect();
  await client.query(
    `insert into assets (id, owner_user_id, kind, filename, content_type, mime_type, visibility, created_at,
                         updated_at, expires_at, legal_hold)
     select gen_random_uuid(), 'owner-' || n % 20, 'video', 'a.mp4', 'video', 'video/mp4', 'private', now(),
            now(), case when n % ${EVERY} = 0 then now() + (n - ${ASSETS / 2}) * interval '1 s' end,
            n % ${3 * EVERY} = 0
       from generate_series(1, ${ASSETS}) as n`,
  );
  await client.query('vacuum analyze assets');
});
afterAll(async () => {
  await client?.end();
  await server?.stop();
});

const NOW = new Date();

test('expired assets are one index scan, without those under a legal hold', async () => {
  const plan = await explain(client, (db) =>
    findExpiredAssets(db, { now: NOW, after: ASSET_EXPIRY_START, limit: 200 }),
  );
  expect(plan).toMatch(/Index Scan using assets_expiring/);
  expect(plan).not.toMatch(/Seq Scan|Sort/);
  expect(buffersOf(plan)).toBeLessThan(200);
});

test.each([
  ['an owner', 'owner-0', /assets_with_expiry/],
  ['all owners', undefined, /assets_all_with_expiry/],
])('a list of assets of %s that expire walks an index', async (_whose, owner, index) => {
  const filter = { owner, isTrash: false, expiresBefore: NOW };
  const plan = await explain(client, (db) =>
    listAssets(db, filter, { after: undefined, limit: 51, isOldestFirst: false }),
  );
  expect(plan).toMatch(index);
  expect(plan).not.toContain('Seq Scan');
  expect(buffersOf(plan)).toBeLessThan(500);
});
