// Tests that transactions are atomic, reject late statements, and that every wait has a timeout.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rowsOf, startTestPostgres, type TestPostgres } from '../../../../test/support/postgres/postgres.ts';
import type { Connection } from './connection.ts';
import { type Database, openDatabase, type Queries, type Transaction } from './database.ts';
import { findViolatedConstraint } from './database-errors.ts';
import { sql } from './sql.ts';

let server: TestPostgres;
let connection: Connection;
let db: Database;
const idleErrors: Error[] = [];
beforeAll(async () => {
  server = await startTestPostgres();
  connection = await server.database();
  await rowsOf(connection, 'create table note (words text primary key, size bigint, made timestamptz)');
  db = openDatabase({
    connection,
    onIdleError: (error) => {
      idleErrors.push(error);
    },
  });
});
beforeEach(() => rowsOf(connection, 'truncate note'));
afterAll(async () => {
  await db.close();
  await server.stop();
});

const write = (on: Queries, words: string) =>
  on.one(sql('write note')`insert into note (words) values (${words})`);
const notes = async (on: Queries = db) =>
  (await on.all(sql('read notes', { words: 'text' })`select words from note order by words`)).map(
    ({ words }) => words,
  );
const divide = (on: Queries) => on.one(sql('divide', { result: 'int4' })`select ${1}::int / 0 as result`);
const away = { code: 'UNAVAILABLE', message: 'The database is not available' };

describe('a transaction', () => {
  test('commits all statements and returns the result of its work', async () => {
    const inside = await db.transaction(async (tx) => {
      await write(tx, 'one');
      await write(tx, 'two');
      return notes(tx);
    });
    expect(inside).toEqual(['one', 'two']);
    expect(await notes()).toEqual(['one', 'two']);
  });

  test('rolls back when its work throws, and rethrows the error', async () => {
    const reason = new Error('changed my mind');
    const work = db.transaction(async (tx) => {
      await write(tx, 'one');
      throw reason;
    });
    await expect(work).rejects.toBe(reason);
    expect(await notes()).toEqual([]);
  });

  test('fails when the error of a statement was ignored', async () => {
    const work = db.transaction(async (tx) => {
      await write(tx, 'one');
      await divide(tx).catch(() => undefined);
    });
    await expect(work).rejects.toThrow('was rolled back');
    expect(await notes()).toEqual([]);
  });

  test('rejects statements after a commit or a rollback', async () => {
    let kept: Transaction | undefined;
    let dropped: Transaction | undefined;
    await db.transaction(async (tx) => {
      kept = tx;
    });
    await db
      .transaction(async (tx) => {
        dropped = tx;
        throw new Error('no');
      })
      .catch(() => undefined);
    for (const tx of [kept, dropped] as Transaction[]) {
      await expect(write(tx, 'late')).rejects.toThrow('an await is missing');
      expect(() => tx.executeSql('insert into note values ($1)', ['late'])).toThrow('an await is missing');
    }
    expect(await notes()).toEqual([]);
  });

  test('is not visible to others before its commit', async () => {
    await db.transaction(async (tx) => {
      await write(tx, 'one');
      expect(await notes()).toEqual([]);
    });
  });

  test('reports the violated unique constraint', async () => {
    await write(db, 'one');
    const error: unknown = await db.transaction((tx) => write(tx, 'one')).catch((thrown: unknown) => thrown);
    expect(findViolatedConstraint(error)).toBe('note_pkey');
  });
});

test('64-bit integers are read as numbers, and times to the millisecond', async () => {
  const made = new Date('2031-05-06T07:08:09.123Z');
  const row = await db.one(sql('types', { size: 'int8', made: 'timestamptz', none: 'text?' })`
    insert into note values ('one', ${2 ** 40}, ${made}) returning size, made, null::text as none`);
  expect(row).toEqual({ size: 2 ** 40, made, none: null });
});

test('a plan that was cached for a small table is replaced after ANALYZE of the grown one', async () => {
  const find = (on: Queries) =>
    on.one(sql('find note', { words: 'text' })`select words from note where words = ${'word 7'}`);
  const scans = (on: Queries) =>
    on.one(sql('count scans', { sequential: 'int8', indexed: 'int8' })`
      select seq_scan as sequential, idx_scan as indexed
        from pg_stat_xact_user_tables
       where relname = 'note'`);
  const scanOnce = () =>
    db.transaction(async (tx) => {
      const before = await scans(tx);
      await find(tx);
      const after = await scans(tx);
      const added = (name: 'sequential' | 'indexed') => (after?.[name] ?? 0) - (before?.[name] ?? 0);
      return { sequential: added('sequential'), indexed: added('indexed') };
    });
  await rowsOf(connection, "insert into note (words) values ('word 7')");
  await rowsOf(connection, 'analyze note');
  for (let run = 0; run < 10; run++) await find(db);
  expect(await scanOnce()).toEqual({ sequential: 1, indexed: 0 });
  await rowsOf(
    connection,
    "insert into note (words) select 'word ' || number from generate_series(8, 20000) as number",
  );
  await rowsOf(connection, 'analyze note');
  expect(await scanOnce()).toEqual({ sequential: 0, indexed: 1 });
});

describe('failures', () => {
  test('an invalid statement is not UNAVAILABLE, and the next statement works', async () => {
    await expect(divide(db)).rejects.toMatchObject({ code: '22012' });
    expect(await notes()).toEqual([]);
  });

  test('a statement that takes too long times out, and the next statement works', async () => {
    await expect(
      db.one(sql('sleep', { slept: 'text' })`select pg_sleep(60)::text as slept`),
    ).rejects.toMatchObject(away);
    expect(await notes()).toEqual([]);
  });

  test('terminated connections are replaced, and the active one fails with UNAVAILABLE', async () => {
    const ending = db.transaction(async (tx) => {
      await rowsOf(
        connection,
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`,
      );
      await write(tx, 'one');
    });
    await expect(ending).rejects.toMatchObject(away);
    await expect.poll(() => notes().catch(() => 'not yet'), { timeout: 10_000 }).toEqual([]);
  });

  test('an unreachable server fails every kind of call within seconds', async () => {
    const nowhere = openDatabase({
      connection: { ...connection, host: '/tmp/mediary-no-such-folder' },
      onIdleError: () => undefined,
    });
    await expect(notes(nowhere)).rejects.toMatchObject(away);
    await expect(nowhere.transaction(notes)).rejects.toMatchObject(away);
    await nowhere.close();
    await expect(notes(nowhere)).rejects.toMatchObject(away);
  });
});
