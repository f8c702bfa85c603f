// One database role migrates, another one runs the service without the right to change tables.
import { rm } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { migrate } from '../../../service/src/platform/postgres/migrate.ts';
import { bombPng } from '../../support/clips/pictures.ts';
import { expectSuccess } from '../../support/http/envelope.ts';
import { complete, IMAGE, openUpload, putBytes, settled } from '../../support/media.ts';
import { rowsOf } from '../../support/postgres/postgres.ts';
import { asOperator, call } from '../../support/service.ts';
import { newDataDir, newDatabaseDir } from '../../support/service/data-folders.ts';
import { endAllIn, type ServiceProcess, startProcess } from '../../support/service/service-process.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

let folders: [database: string, data: string];
let postgres: EmbeddedPostgres;
const services: ServiceProcess[] = [];
beforeAll(async () => {
  folders = [await newDatabaseDir(), await newDataDir()];
  postgres = await startEmbeddedPostgres(folders[0]);
  // As docs/guides/going-to-production.md says.
  for (const statement of [
    'create role mediary_owner login',
    'create role mediary login',
    'create database media owner mediary_owner',
  ])
    await rowsOf(postgres.connection, statement);
  for (const kind of ['usage on schemas', 'select, insert, update, delete, truncate on tables'])
    await rowsOf(as('mediary_owner'), `alter default privileges grant ${kind} to mediary`);
  for (const kind of ['usage on sequences', 'execute on functions'])
    await rowsOf(as('mediary_owner'), `alter default privileges grant ${kind} to mediary`);
});
afterAll(async () => {
  for (const service of services) await service.end('SIGKILL');
  await endAllIn(folders[1]);
  await postgres?.stop();
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })));
});

const as = (user: string) => ({ ...postgres.connection, user, database: 'media' });
const settingsOf = (user: string) => {
  const { host, port } = postgres.connection;
  const url = `postgres://${user}@/media?host=${encodeURIComponent(host)}&port=${port}`;
  return { DATABASE_URL: url, DATA_DIR: folders[1], MIGRATE_AT_START: 'off' };
};

type CommandResult = { readonly code: unknown; readonly out: string; readonly errors: string };

type MigrateHooks = { readonly settings?: object; readonly onError?: () => void };

/** With the database alone: no secrets, no folder. */
function runMigrate(
  user: string,
  args: string[] = [],
  { settings = {}, onError = () => {} }: MigrateHooks = {},
): Promise<CommandResult> {
  const command = [resolve(ROOT, 'service/start.js'), 'migrate', ...args];
  const { DATABASE_URL } = settingsOf(user);
  const env = { PATH: process.env['PATH'], DATABASE_URL, ...settings };
  return new Promise((done) => {
    const child = execFile(process.execPath, command, { cwd: folders[1], env }, (error, out, errors) =>
      done({ code: error?.code ?? 0, out, errors }),
    );
    child.stderr?.once('data', onError);
  });
}

test('the service refuses to start before the migration', async () => {
  await expect(startProcess(settingsOf('mediary'))).rejects.toThrow('ended with 1');
});

test('a plan lists migrations and the schema of the queue, exits with 3, and changes nothing', async () => {
  const plan = await runMigrate('mediary', ['--plan']);
  expect(plan).toMatchObject({ code: 3, errors: '' });
  expect(plan.out).toMatch(/^0001-initial\.sql: in one transaction; /m);
  expect(plan.out).toMatch(/^job queue: schema none to \d+$/m);
  const data = await runMigrate('mediary', ['--plan', '--json']);
  expect([data.code, JSON.parse(data.out)]).toEqual([
    3,
    {
      pending: [{ name: '0001-initial.sql', in_transaction: true, oldest_compatible: null }],
      job_queue: { schema_version: null, needed_version: expect.any(Number) },
      applied: [],
    },
  ]);
  const tables = "select relname from pg_class where relname in ('assets', 'migrations')";
  expect(await rowsOf(as('mediary_owner'), tables)).toEqual([]);
  expect(existsSync(join(folders[1], '.mediary'))).toBe(false);
});

test('a role without the right is told to use the one that owns the tables', async () => {
  const { code, errors } = await runMigrate('mediary');
  expect(code).toBe(1);
  expect(errors).toMatch(/^The role of DATABASE_URL lacks a right\. .*\n {2}Cause: permission denied/);
});

test('two commands at once apply each migration once; the plan is empty afterwards', async () => {
  const both = await Promise.all([runMigrate('mediary_owner'), runMigrate('mediary_owner')]);
  const ends = both.map(({ code, out }) => [code, out.split('\n').at(-2)]);
  expect(ends.sort()).toEqual([
    [0, 'Done. Files that this command applied: 0001-initial.sql.'],
    [0, 'Done. Files that this command applied: none.'],
  ]);
  const plan = await runMigrate('mediary', ['--plan']);
  expect(plan).toEqual({ code: 0, out: 'All migrations of this release are applied.\n', errors: '' });
});

test('a command waits for the process that migrates, and says where it runs', async () => {
  const released = Promise.withResolvers<void>();
  const holding = Promise.withResolvers<void>();
  const finish = () => {
    holding.resolve();
    return released.promise;
  };
  const holder = migrate(as('mediary_owner'), { finish });
  await holding.promise;
  const waiting = runMigrate('mediary_owner', [], { onError: released.resolve });
  // Also after a command that says nothing, so that the test fails and does not hang.
  void waiting.then(() => released.resolve());
  expect(await holder).toEqual([]);
  const { code, errors } = await waiting;
  expect(code).toBe(0);
  expect(errors).toContain(`this one waits for it: mediary on ${hostname()} (role mediary_owner, process `);
});

test('a database of a newer release, or without a server, is an error that says so', async () => {
  const newer = "insert into migrations (number, name, sha256) values (9999, '9999-of-tomorrow.sql', '')";
  await rowsOf(as('mediary_owner'), newer);
  for (const args of [['--plan'], []]) {
    const { code, errors } = await runMigrate('mediary_owner', args);
    expect(code).toBe(1);
    expect(errors).toMatch(/^The database belongs to a newer release: it has migration 9999, /);
  }
  await rowsOf(as('mediary_owner'), 'delete from migrations where number = 9999');
  const nowhere = { DATABASE_URL: 'postgres://mediary@127.0.0.1:1/media', START_TIMEOUT_S: '1' };
  const { code, errors } = await runMigrate('mediary_owner', ['--plan'], { settings: nowhere });
  expect(code).toBe(1);
  expect(errors).toMatch(/^The database is not available \(connect ECONNREFUSED .*\)\. Retry in 250 ms\.\n/);
  expect(errors).toMatch(/^The database did not accept a connection within 1 s \(START_TIMEOUT_S\)\. /m);
});

test('the service runs without rights on tables: jobs, maintenance of partitions, restart', async () => {
  for (const seed of [16, 17]) {
    const service = await startProcess(settingsOf('mediary'));
    services.push(service);
    const started = await openUpload(service, 'ann', IMAGE);
    expectSuccess(await putBytes(started, bombPng(16, seed)));
    expectSuccess(await complete(service, 'ann', started.asset_id));
    expect(await settled(service, 'ann', started.asset_id)).toMatchObject({ stream_status: 'ready' });
    expectSuccess(await call(service, 'GET /admin/diagnostics', { headers: asOperator }));
    expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
  }
  await expect(rowsOf(as('mediary'), 'drop table assets')).rejects.toMatchObject({ code: '42501' });
  await expect(rowsOf(as('mediary'), 'create table other ()')).rejects.toMatchObject({ code: '42501' });
  expect(await rowsOf(as('mediary'), 'select create_month_partitions(6) > 0 as made')).toEqual([
    { made: true },
  ]);
  expect(
    await rowsOf(
      as('mediary'),
      "select drop_month_partitions('deliveries', now() + interval '9 months') > 0 as dropped",
    ),
  ).toEqual([{ dropped: true }]);
});

test('an older version of the queue in front of a newer schema runs', async () => {
  await rowsOf(as('mediary_owner'), 'update pgboss.version set version = version + 1');
  const service = await startProcess(settingsOf('mediary'));
  services.push(service);
  const started = await openUpload(service, 'ann', IMAGE);
  expectSuccess(await putBytes(started, bombPng(16, 18)));
  expectSuccess(await complete(service, 'ann', started.asset_id));
  expect(await settled(service, 'ann', started.asset_id)).toMatchObject({ stream_status: 'ready' });
});
