// Tests that a resend reads only the events that it schedules, however many a month has.
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres/postgres.ts';
import { buffersOf, explain } from '../../../../test/support/postgres/query-plans.ts';
import { sessionOptions } from '../../platform/postgres/database.ts';
import { firstIdOf } from '../../platform/values/uuid.ts';
import { listEventsBetween } from './endpoint-deliveries.sql.ts';

const DAY_MS = 86_400_000;
const MONTHS = 3;
const EVENTS = 60_000;

let server: TestPostgres;
let client: pg.Client;
beforeAll(async () => {
  server = await startTestPostgres();
  const connection = await server.migrated();
  client = new pg.Client({ ...connection, options: sessionOptions() });
  await client.connect();
  await client.query(
    `insert into events (id, asset_id, owner_user_id, type, data, created_at, revision)
     select first_id_of(at), gen_random_uuid(), 'ann', 'asset.updated', '{}', at, 1
       from generate_series(now(), now() + make_interval(months => ${MONTHS - 1}),
                            make_interval(months => ${MONTHS - 1}) / ${EVENTS}) as at`,
  );
  await client.query('vacuum analyze events');
});
afterAll(async () => {
  await client.end();
  await server.stop();
});

const planOf = (from: number, below: number): Promise<string> =>
  explain(client, (db) =>
    listEventsBetween(db, { fromId: firstIdOf(from), belowId: firstIdOf(below) }, { types: [], limit: 100 }),
  );

test.each([
  ['an hour', DAY_MS / 24],
  ['all months', 100 * DAY_MS],
])('events of %s: index scans, few pages', async (_what, duration) => {
  const plan = await planOf(Date.now() + DAY_MS, Date.now() + DAY_MS + duration);
  expect(plan).toMatch(/Index Scan using events_\w+_id_idx/);
  expect(plan).not.toContain('Seq Scan');
  expect(buffersOf(plan)).toBeLessThan(200);
});
