// Tests which uploads expire, and with a real database which months are dropped (contract B4, B6).
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import {
  openTestDatabase,
  rowsOf,
  startTestPostgres,
  type TestPostgres,
} from '../../../test/support/postgres/postgres.ts';
import type { Asset } from '../assets/asset.ts';
import { createVideo, NOW } from '../lifecycle/asset.fixture.ts';
import * as commands from '../lifecycle/commands.ts';
import { createLifecycleContext } from '../lifecycle/context.fixture.ts';
import { openMemoryStore } from '../lifecycle/memory-store.fixture.ts';
import type { Connection } from '../platform/postgres/connection.ts';
import { databaseOf } from '../platform/postgres/database.fixture.ts';
import type { Database } from '../platform/postgres/database.ts';
import { migrate } from '../platform/postgres/migrate.ts';
import { offer } from '../platform/values/offer.ts';
import { createUpkeepContext } from './context.fixture.ts';
import { createPartitions, dropExpiredMonths, expireUploads } from './cleanup.ts';

const MONTHS = ['2001-01', '2001-02', '2001-03', '2001-04'];
/** The first and the last millisecond of each month, and times without a partition. */
const WITHIN = MONTHS.flatMap((month, index) => [
  `${month}-01T00:00:00.000Z`,
  new Date(Date.UTC(2001, index + 1) - 1).toISOString(),
]);
const OUTSIDE = ['2000-12-31T23:59:59.999Z', '2001-05-01T00:00:00.000Z', '2100-01-01T00:00:00.000Z'];

let server: TestPostgres;
let connection: Connection;
let db: Database;
beforeAll(async () => {
  server = await startTestPostgres();
  connection = await server.database();
  // A month starts in UTC, whatever the time zone of the server.
  await rowsOf(connection, `alter database ${connection.database} set timezone to 'Pacific/Kiritimati'`);
  await migrate(connection);
  db = openTestDatabase(connection);
});
afterAll(async () => {
  await db.close();
  await server.stop();
});

const nameOf = (table: string, month: string) => `${table}_${month.replace('-', '_')}`;
const monthOf = (table: string) =>
  MONTHS.map(
    (month, index) => `
  drop table if exists ${nameOf(table, month)};
  create table ${nameOf(table, month)} partition of ${table} for values
    from ('${firstId(`${month}-01T00:00:00Z`)}')
             to ('${firstId(new Date(Date.UTC(2001, index + 1)).toISOString())}')`,
  ).join(';');

function firstId(time: string): string {
  const hex = Date.parse(time).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

beforeEach(async () => {
  await rowsOf(connection, `truncate deliveries, events; ${monthOf('deliveries')}; ${monthOf('events')}`);
  for (const time of [...WITHIN, ...OUTSIDE]) {
    await rowsOf(
      connection,
      `insert into deliveries (id, provider, body, headers, processed, reason, received_at)
       values ($1, 'onprem', '', '{}', true, 'applied', $2)`,
      [firstId(time), time],
    );
    await rowsOf(
      connection,
      `insert into events (id, asset_id, owner_user_id, type, data, created_at, revision)
       values ($1, $1, 'ann', 'asset.ready', '{}', $2, 1)`,
      [firstId(time), time],
    );
  }
});

const drop = (now: string, webhookRetentionDays = 30, eventRetentionDays = 0) =>
  dropExpiredMonths(
    createUpkeepContext({
      db,
      settings: { webhookRetentionDays, eventRetentionDays },
      clocks: { databaseNow: async () => new Date(now) },
    }),
  );
const timesIn = async (table: string, column: string) =>
  (await rowsOf(connection, `select ${column} as at from ${table} order by id`)).map(({ at }) =>
    (at as Date).toISOString(),
  );
const deliveryTimes = () => timesIn('deliveries', 'received_at');
const months = async () =>
  (
    await rowsOf(
      connection,
      `select relname from pg_class where relkind = 'r' and relname like 'deliveries_2001_%' order by 1`,
    )
  ).map(({ relname }) => relname);

test('a month that ended before the retention period is dropped, and the others stay', async () => {
  expect(await drop('2001-04-10T00:00:00Z')).toBe(2);
  expect(await months()).toEqual(['deliveries_2001_03', 'deliveries_2001_04']);
  expect(await deliveryTimes()).toEqual([...WITHIN.slice(4), ...OUTSIDE.slice(1)]);
  expect(await drop('2001-04-10T00:00:00Z')).toBe(0);
});

test('a month is dropped as soon as its last delivery has expired, not earlier', async () => {
  expect([await drop('2001-03-02T23:59:59.999Z'), await months()]).toEqual([
    0,
    MONTHS.map((month) => nameOf('deliveries', month)),
  ]);
  expect([await drop('2001-03-03T00:00:00Z'), (await months())[0]]).toEqual([1, 'deliveries_2001_02']);
});

test('no delivery is dropped within the retention period', async () => {
  for (const days of [7, 30, 90]) {
    for (let day = 0; day < 120; day += 13) {
      const now = new Date(Date.UTC(2001, 0, 15 + day));
      const before = await deliveryTimes();
      await drop(now.toISOString(), days);
      const isRetained = (time: string) => Date.parse(time) >= now.getTime() - days * 86_400_000;
      expect((await deliveryTimes()).filter(isRetained)).toEqual(before.filter(isRetained));
    }
  }
});

test('events are dropped by the month where their retention is limited', async () => {
  expect(await drop('2001-04-10T00:00:00Z', 3650, 30)).toBe(2);
  expect(await timesIn('events', 'created_at')).toEqual([...WITHIN.slice(4), ...OUTSIDE.slice(1)]);
  expect(await deliveryTimes()).toHaveLength(WITHIN.length + OUTSIDE.length);
});

test('events are kept without a limit', async () => {
  await drop('2200-01-01T00:00:00Z');
  expect(await deliveryTimes()).toEqual([]);
  expect(await timesIn('events', 'created_at')).toEqual([OUTSIDE[0], ...WITHIN, ...OUTSIDE.slice(1)]);
  await createPartitions(createUpkeepContext({ db }));
  await rowsOf(
    connection,
    `insert into deliveries (id, provider, body, headers, processed, reason, received_at)
     values ($1, 'onprem', '', '{}', true, 'applied', now())`,
    [firstId(new Date().toISOString())],
  );
  expect(await deliveryTimes()).toHaveLength(1);
});

test('a long reader makes the job fail at once, so that writes do not wait behind it', async () => {
  const client = new pg.Client(connection);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('begin; lock table deliveries in access share mode');
  const lockTimeout = { code: 'UNAVAILABLE', cause: { code: '55P03' } };
  await expect(drop('2001-04-10T00:00:00Z')).rejects.toMatchObject(lockTimeout);
  expect(await months()).toHaveLength(MONTHS.length);
  await client.query('rollback');
  expect(await drop('2001-04-10T00:00:00Z')).toBe(2);
});

test('an upload expires, unless it finished after the job had found it', async () => {
  const found = createVideo({ upload_expires_at: new Date(NOW.getTime() - 1) });
  const decisionsAbout = async (read: Asset, stored: Asset) => {
    const { update, decisions } = openMemoryStore(stored, NOW);
    const lifecycle = offer(createLifecycleContext({ assets: { update } }), commands);
    await expireUploads(
      createUpkeepContext({
        db: databaseOf({ all: () => [{ id: read.id }] }),
        store: {},
        lifecycle: { ...lifecycle, findAssetById: async () => read },
      }),
    );
    return decisions;
  };
  expect(await decisionsAbout(found, found)).toMatchObject([
    { set: { stream_status: 'failed', failure: { code: 'upload_expired' } } },
  ]);
  const finished = { ...found, upload_expires_at: new Date(NOW.getTime() + 60_000) };
  expect(await decisionsAbout(found, finished)).toEqual([]);
  expect(await decisionsAbout(finished, finished)).toEqual([]);
});
