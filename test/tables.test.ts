// Holds tables.ts against the catalogue of a database that was just migrated, and the migrations to being
// applied once.
import {
  ASSET_KINDS,
  ENDPOINT_DELIVERY_STATES,
  ENDPOINT_STATUSES,
  PURGE_REASONS,
  STREAM_STATUSES,
  VISIBILITIES,
} from '@mediary/contract/enums';
import { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { Erasure } from '@mediary/contract/schemas/admin/owners';
import { StorageCheck } from '@mediary/contract/schemas/admin/storage-checks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Connection } from '../service/src/platform/postgres/connection.ts';
import { migrate } from '../service/src/platform/postgres/migrate.ts';
import { TABLES } from '../service/src/tables.ts';
import { rowsOf, startTestPostgres, type TestPostgres } from './support/postgres/postgres.ts';

let server: TestPostgres;
let connection: Connection;
beforeAll(async () => {
  server = await startTestPostgres();
  connection = await server.database();
  await migrate(connection);
});
afterAll(() => server.stop());

/** The values that a column may have, where the contract has them too. */
const ENUMERATIONS: Readonly<Record<string, readonly string[]>> = {
  'assets.kind': ASSET_KINDS,
  'assets.visibility': VISIBILITIES,
  'assets.stream_status': STREAM_STATUSES,
  'storage_checks.status': StorageCheck.properties.status.enum,
  'cdn_purges.reason': PURGE_REASONS,
  'webhook_endpoints.status': ENDPOINT_STATUSES,
  'endpoint_deliveries.state': ENDPOINT_DELIVERY_STATES,
  'owner_erasures.phase': Erasure.properties.phase.enum,
  'collections.visibility': VISIBILITIES,
  'console_sessions.kind': ConsoleSession.properties.kind.enum,
};
/** Columns with values that the API does not show. */
const INTERNAL = ['encode_chunks.state', 'uploads.concatenation', 'uploads.protocol'];

const rows = (text: string, values?: unknown[]) => rowsOf(connection, text, values);
const newEvent = (moment: string, asset = '00000000-0000-7000-8000-000000000001') =>
  rows(
    `insert into events (id, asset_id, owner_user_id, type, data, created_at, revision)
    values (first_id_of($1::timestamptz), $2, 'ann', 'asset.created', '{}', $1, 1)
     returning tableoid::regclass::text as partition`,
    [moment, asset],
  );
const partitionsOf = async (table: string) =>
  (
    await rows(
      'select inhrelid::regclass::text as name from pg_inherits where inhparent = $1::regclass order by 1',
      [table],
    )
  ).map(({ name }) => name);
const makePartitions = async (ahead: number) =>
  (await rows('select create_month_partitions($1) as made', [ahead]))[0]?.['made'];

/** `_2031_05` for this month and those ahead, in UTC. */
const monthsAhead = (count: number): string[] => {
  const now = new Date();
  return Array.from({ length: count + 1 }, (_, ahead) => {
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead));
    return `_${month.toISOString().slice(0, 7).replace('-', '_')}`;
  });
};

describe('a migrated database', () => {
  test('has the tables and columns of tables.ts, with their types and nulls, and no other', async () => {
    const columns =
      await rows(`select relname as table, attname as column, typname as type, not attnotnull as nullable
        from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
             join pg_type on pg_type.oid = atttypid
       where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
          and relname <> 'migrations'`);
    const found: Record<string, Record<string, string>> = {};
    for (const { table, column, type, nullable } of columns as {
      table: string;
      column: string;
      type: string;
      nullable: boolean;
    }[]) {
      found[table] = {
        ...found[table],
        [column]: `${type.replace(/^_(.*)$/, '$1[]')}${nullable ? '?' : ''}`,
      };
    }
    expect(found, 'service/migrations, compared with tables.ts and tables-internal.ts').toEqual(TABLES);
  });

  test('allows in its columns the values of the contract', async () => {
    const checks = await rows(
      `select relname || '.' || attname as column, pg_get_constraintdef(pg_constraint.oid) as definition
         from pg_constraint join pg_class on pg_class.oid = conrelid
              join pg_attribute on attrelid = conrelid and attnum = conkey[1]
        where contype = 'c' and connamespace = 'public'::regnamespace and cardinality(conkey) = 1
          and pg_get_constraintdef(pg_constraint.oid) like '%ARRAY[%'
        order by 1`,
    );
    const allowed = checks.map(({ column, definition }) => [
      String(column),
      Array.from(String(definition).matchAll(/'([^']+)'::text/g), ([, value]) => value).sort(),
    ]);
    const expected = Object.entries(ENUMERATIONS).map(([column, values]) => [column, [...values].sort()]);
    expect(allowed.filter(([column]) => !INTERNAL.includes(String(column)))).toEqual(expected.sort());
  });

  test('partitions events and deliveries by id: this month, three months ahead, and a default', async () => {
    const cut = await rows(
      "select relname as name, pg_get_partkeydef(oid) as by from pg_class where relkind = 'p' order by 1",
    );
    expect(cut).toEqual([
      { name: 'deliveries', by: 'RANGE (id)' },
      { name: 'events', by: 'RANGE (id)' },
    ]);
    for (const table of ['events', 'deliveries'])
      expect(await partitionsOf(table)).toEqual([...monthsAhead(3), '_default'].map((end) => table + end));
  });

  test('stores a row in the partition of its id: its month, or the default', async () => {
    const [thisMonth, nextMonth] = monthsAhead(1);
    expect(await newEvent(new Date().toISOString())).toEqual([{ partition: `events${thisMonth}` }]);
    expect(await newEvent(`${nextMonth?.slice(1).replace('_', '-')}-01T00:00:00Z`)).toEqual([
      { partition: `events${nextMonth}` },
    ]);
    expect(await newEvent('2100-01-01T00:00:00Z')).toEqual([{ partition: 'events_default' }]);
    expect(await newEvent('1999-12-31T23:59:59Z')).toEqual([{ partition: 'events_default' }]);
  });

  test('creates only the missing partitions', async () => {
    expect(await makePartitions(3)).toBe(0);
    expect(await makePartitions(5)).toBe(4);
    expect(await makePartitions(5)).toBe(0);
    expect(await partitionsOf('events')).toEqual(
      [...monthsAhead(5), '_default'].map((end) => `events${end}`),
    );
  });

  test('creates a late partition, and moves its rows there', async () => {
    const late = monthsAhead(8).at(-1);
    const asset = '00000000-0000-7000-8000-000000000002';
    expect(await newEvent(`${late?.slice(1).replace('_', '-')}-15T12:00:00Z`, asset)).toEqual([
      { partition: 'events_default' },
    ]);
    expect(await makePartitions(8)).toBe(6);
    expect(
      await rows('select tableoid::regclass::text as partition from events where asset_id = $1', [asset]),
    ).toEqual([{ partition: `events${late}` }]);
  });
});

describe('a server whose clock is not in UTC', () => {
  test('has the same months without gaps or overlaps', async () => {
    const berlin = await server.database();
    await rowsOf(berlin, `alter database ${berlin.database} set timezone = 'Europe/Berlin'`);
    await migrate(berlin);
    await rowsOf(berlin, 'select create_month_partitions(12)');
    const months = monthsAhead(12).map((end) => ({
      partition: `events${end}`,
      first: `${end.slice(1).replace('_', '-')}-01T00:00:00Z`,
    }));
    const placed = await rowsOf(
      berlin,
      `insert into events (id, asset_id, owner_user_id, type, data, created_at, revision)
      select first_id_of(first), gen_random_uuid(), 'ann', 'asset.created', '{}', first, 1
      from unnest($1::timestamptz[]) as first
      returning tableoid::regclass::text as partition, created_at as first`,
      [months.map(({ first }) => first)],
    );
    expect(placed).toEqual(months.map(({ partition, first }) => ({ partition, first: new Date(first) })));
  });
});

describe('migrations', () => {
  test('are applied once, by one of three processes that start together', async () => {
    const fresh = await server.database();
    const applied = (await Promise.all([migrate(fresh), migrate(fresh), migrate(fresh)])).filter(
      ({ length }) => length > 0,
    );
    expect(applied).toHaveLength(1);
    expect(
      (await rowsOf(fresh, 'select name from migrations order by number')).map(({ name }) => name),
    ).toEqual(applied[0]);
    expect(await migrate(fresh)).toEqual([]);
  });
});
