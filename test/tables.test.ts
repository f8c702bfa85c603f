// Holds tables.ts against the catalogue of a database that was just migrated, and the migrations to being
// applied once.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Connection } from '../service/src/platform/postgres/connection.ts';
import { migrate } from '../service/src/platform/postgres/migrate.ts';
import { TABLES } from '../service/src/tables.ts';
import { rowsOf, startTestPostgres, type TestPostgres } from './support/postgres/postgres.ts';

let server: TestPostgres;
let connection: Connection;
beforeAll(async () => {
  server = await startTestPostgres();
  connection = await server.database('migrated');
  await migrate(connection);
});
afterAll(() => server.stop());

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
    const berlin = await server.database('berlin');
    await rowsOf(berlin, "alter database berlin set timezone = 'Europe/Berlin'");
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
    const fresh = await server.database('together');
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
