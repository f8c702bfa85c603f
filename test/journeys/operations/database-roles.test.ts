// One database role migrates, another one runs the service without the right to change tables.
import { rm } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { bombPng } from '../../support/clips/pictures.ts';
import { expectSuccess } from '../../support/http/envelope.ts';
import { complete, IMAGE, openUpload, putBytes, settled } from '../../support/media.ts';
import { rowsOf } from '../../support/postgres/postgres.ts';
import { asOperator, call, newDataDir, newDatabaseDir } from '../../support/service.ts';
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

async function runMigrate(user: string, ...args: string[]): Promise<string> {
  const command = [resolve(ROOT, 'service/start.js'), 'migrate', ...args];
  const env = {
    PATH: process.env['PATH'],
    MEDIARY_ROLE: 'worker',
    ENCODER_CALLBACK_URL: 'http://127.0.0.1:1',
  };
  const options = { cwd: ROOT, env: { ...env, ...settingsOf(user) } };
  return (await promisify(execFile)(process.execPath, command, options)).stdout;
}

test('the service refuses to start before the migration, and names the command', async () => {
  await expect(startProcess(settingsOf('mediary'))).rejects.toThrow('ended with 1');
});

test('a plan lists the migrations and the schema of the queue, then the command applies them', async () => {
  const plan = await runMigrate('mediary', '--plan');
  expect(plan).toMatch(/^0001-initial\.sql: in one transaction; /m);
  expect(plan).toMatch(/^job queue: schema none to \d+$/m);
  expect(await runMigrate('mediary_owner')).toContain('Done.');
  expect(await runMigrate('mediary', '--plan')).toBe('All migrations of this release are applied.\n');
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
