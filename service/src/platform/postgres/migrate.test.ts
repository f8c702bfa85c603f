// Tests that migrations run in order, once and atomically.
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rowsOf, startTestPostgres, type TestPostgres } from '../../../../test/support/postgres/postgres.ts';
import type { Connection } from './connection.ts';
import { assertMigrated, migrate, planMigrations } from './migrate.ts';

const FILES = readdirSync(join(import.meta.dirname, '../../../migrations')).sort();

let server: TestPostgres;
beforeAll(async () => {
  server = await startTestPostgres();
});
afterAll(() => server.stop());

test('the files are numbered without gaps', () => {
  expect(FILES.map((name) => /^(\d{4})-[a-z0-9-]+\.sql$/.exec(name)?.[1])).toEqual(
    FILES.map((_, index) => String(index + 1).padStart(4, '0')),
  );
});

test('the first start applies all of them in order, the second none', async () => {
  const fresh = await server.database();
  expect(await migrate(fresh)).toEqual(FILES);
  expect(await migrate(fresh)).toEqual([]);
  expect(await rowsOf(fresh, 'select number, name from migrations order by number')).toEqual(
    FILES.map((name, index) => ({ number: index + 1, name })),
  );
});

test('three processes that start together apply each migration once', async () => {
  const shared = await server.database();
  const applied = await Promise.all([migrate(shared), migrate(shared), migrate(shared)]);
  expect(applied.flat()).toEqual(FILES);
});

test('a process waits for another one, and says once for which', async () => {
  const database = await server.database();
  const holding = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const finish = () => {
    holding.resolve();
    return released.promise;
  };
  const first = migrate(database, { finish });
  await holding.promise;
  const messages: string[] = [];
  const onWait = (message: string) => {
    messages.push(message);
    released.resolve();
  };
  expect(await migrate(database, { onWait })).toEqual([]);
  expect(await first).toEqual(FILES);
  expect(messages).toEqual([
    expect.stringMatching(
      /one waits for it: mediary on \S+ \(role \w+, process \d+ of the database server, connected since 2/,
    ),
  ]);
});

test('a failed migration is named in the error, rolled back, and applied at the next attempt', async () => {
  const refusing = await server.database();
  await rowsOf(
    refusing,
    `create table migrations (number int primary key, name text not null, sha256 text, oldest_compatible int,
                              applied_at timestamptz default now(), constraint none check (false))`,
  );
  await expect(migrate(refusing)).rejects.toMatchObject({
    message: `migration ${FILES[0]} failed`,
    cause: { code: '23514' },
  });
  const made = await rowsOf(
    refusing,
    "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')",
  );
  expect(made).toEqual([{ relname: 'migrations' }]);
  await rowsOf(refusing, 'alter table migrations drop constraint none');
  expect(await migrate(refusing)).toEqual(FILES);
});

test('a database of a newer release is left alone, and the start says why', async () => {
  const newer = await server.database();
  await migrate(newer);
  await rowsOf(
    newer,
    "insert into migrations (number, name, sha256) values (9999, '9999-of-tomorrow.sql', '')",
  );
  await expect(migrate(newer)).rejects.toThrow(
    /^The database belongs to a newer release: it has migration 9999, this release has only \d+\./,
  );
});

test('an unreachable server fails the start', async () => {
  await expect(migrate({ host: '/tmp/mediary-no-such-folder', database: 'mediary' })).rejects.toMatchObject({
    code: 'ENOENT',
  });
});

test.each([
  ['of other bytes', "update migrations set sha256 = 'other'"],
  ['that was not recorded', 'alter table migrations drop column sha256'],
])('a database with a migration %s is left alone, and the start says why', async (_what, change) => {
  const edited = await server.database();
  await migrate(edited);
  await rowsOf(edited, change);
  await expect(migrate(edited)).rejects.toThrow(`another version of migration ${FILES[0]}`);
});

/** The migrations of a release: each file adds to those of the release before. */
function releaseOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'mediary-migrations-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const FIRST = { '0001-notes.sql': 'create table note (words text, color text)' };
const EXPAND = {
  ...FIRST,
  '0002-add-title.sql': '-- compatible from: 0001\nalter table note add column title text',
  '0003-index-title.sql': `-- compatible from: 0001
-- transaction: none
drop index concurrently if exists note_title;
create index concurrently note_title on note (title);`,
};
const CONTRACT = {
  ...EXPAND,
  '0004-drop-color.sql': '-- compatible from: 0003\nalter table note drop column color',
};

describe('the release before', () => {
  test('starts again after the expanding migrations of the next one, and writes', async () => {
    const database = await server.database();
    await migrate(database, { folder: releaseOf(FIRST) });
    expect(await migrate(database, { folder: releaseOf(EXPAND) })).toEqual([
      '0002-add-title.sql',
      '0003-index-title.sql',
    ]);
    expect(await migrate(database, { folder: releaseOf(FIRST) })).toEqual([]);
    await assertMigrated(database, releaseOf(FIRST));
    await rowsOf(database, "insert into note (words, color) values ('old', 'red')");
    expect(
      await rowsOf(database, "select indisvalid from pg_index where indexrelid = 'note_title'::regclass"),
    ).toEqual([{ indisvalid: true }]);
  });

  test('may start after a contracting migration; the one before it is refused', async () => {
    const database = await server.database();
    await migrate(database, { folder: releaseOf(CONTRACT) });
    expect(await migrate(database, { folder: releaseOf(EXPAND) })).toEqual([]);
    const refused = /it has migration 4, this release has only 1\. .*or the one before it/;
    await expect(migrate(database, { folder: releaseOf(FIRST) })).rejects.toThrow(refused);
    await expect(assertMigrated(database, releaseOf(FIRST))).rejects.toThrow(refused);
  });
});

test('a plan shows what would run, and changes nothing', async () => {
  const database = await server.database();
  const names = async () => (await planMigrations(database, releaseOf(EXPAND))).map(({ name }) => name);
  expect(await names()).toEqual(Object.keys(EXPAND));
  await migrate(database, { folder: releaseOf(FIRST) });
  expect(await names()).toEqual(['0002-add-title.sql', '0003-index-title.sql']);
  expect(await rowsOf(database, 'select count(*)::int as applied from migrations')).toEqual([{ applied: 1 }]);
  await expect(assertMigrated(database, releaseOf(EXPAND))).rejects.toThrow(
    'lacks the migrations 0002-add-title.sql, 0003-index-title.sql. Run "npm run migrate"',
  );
});

test('a migration waits for a table only briefly at a time, so that others get it in between', async () => {
  const database = await server.database();
  await migrate(database, { folder: releaseOf(FIRST) });
  const reader = await openReader(database);
  const migrating = migrate(database, { folder: releaseOf(EXPAND) });
  const waits =
    "select count(*)::int as waiting from pg_locks where not granted and relation = 'note'::regclass";
  const isWaiting = async () => (await rowsOf(database, waits))[0]?.['waiting'];
  for (const waiting of [1, 0, 1]) await expect.poll(isWaiting, { timeout: 10_000 }).toBe(waiting);
  await reader.end();
  expect(await migrating).toHaveLength(2);
});

async function openReader(database: Connection): Promise<pg.Client> {
  const client = new pg.Client(database);
  await client.connect();
  await client.query('begin');
  await client.query('select from note');
  return client;
}

test('three processes build an index concurrently once', async () => {
  const database = await server.database();
  const folder = releaseOf(EXPAND);
  const applied = await Promise.all([1, 2, 3].map(() => migrate(database, { folder })));
  expect(applied.flat()).toEqual(Object.keys(EXPAND));
});

test('a migration without a transaction has nothing but indexes', async () => {
  const folder = releaseOf({ '0001-all.sql': '-- transaction: none\nupdate note set words = null;' });
  const database = await server.database();
  await expect(migrate(database, { folder })).rejects.toThrow(
    'may only have "drop index concurrently if exists"',
  );
});
