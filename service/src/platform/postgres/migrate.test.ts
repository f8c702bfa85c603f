// Tests that migrations run in order, once and atomically.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowsOf, startTestPostgres, type TestPostgres } from '../../../../test/support/postgres/postgres.ts';
import { migrate } from './migrate.ts';

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
  const fresh = await server.database('fresh');
  expect(await migrate(fresh)).toEqual(FILES);
  expect(await migrate(fresh)).toEqual([]);
  expect(await rowsOf(fresh, 'select number, name from migrations order by number')).toEqual(
    FILES.map((name, index) => ({ number: index + 1, name })),
  );
});

test('three processes that start together apply each migration once', async () => {
  const shared = await server.database('shared');
  const applied = await Promise.all([migrate(shared), migrate(shared), migrate(shared)]);
  expect(applied.flat()).toEqual(FILES);
});

test('a failed migration is named in the error, rolled back, and applied at the next attempt', async () => {
  const refusing = await server.database('refusing');
  await rowsOf(
    refusing,
    `create table migrations (number int primary key, name text not null, sha256 text,
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
  const newer = await server.database('newer');
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
  const edited = await server.database(`edited_${change.length}`);
  await migrate(edited);
  await rowsOf(edited, change);
  await expect(migrate(edited)).rejects.toThrow(`another version of migration ${FILES[0]}`);
});
