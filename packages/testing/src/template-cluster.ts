// A database cluster with all tables, created once on this machine and copied for each run of tests.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { chmod, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findInstalledPackage } from '@mediary/embedded-postgres/binaries';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { MIGRATIONS_FOLDER, readMigrations } from '@mediary/service/platform/postgres/migration-files';
import pg from 'pg';
import { createOnce } from './create-once.ts';

const run = promisify(execFile);
/** The name of the cluster in the folder of a server. */
const CLUSTER = 'postgres';

/** The tables are thrown away, so nothing waits for the disk. */
export const SERVER_SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  max_connections: '1000',
};

/**
 * Statements of the service say `now()`. In a database with this path they get the moved clock, because
 * `public` comes before `pg_catalog`.
 */
export const CLOCK_PATH = 'public, pg_catalog';
const CREATE_CLOCK = `
  create table testing_clock (ahead interval not null);
  insert into testing_clock values ('0');
  create function now() returns timestamptz stable language sql
    as 'select pg_catalog.now() + (select ahead from public.testing_clock)';
  create function clock_timestamp() returns timestamptz volatile language sql
    as 'select pg_catalog.clock_timestamp() + (select ahead from public.testing_clock)';`;

/** pg-boss asks a function of its own, which names `pg_catalog`. */
const MOVE_JOB_CLOCK = `
  create or replace function pgboss.job_now() returns timestamptz stable language sql
    as 'select public.now()'`;

/** Puts the cluster into an empty folder. The database `mediary` of its server is the template of others. */
export async function copyTemplateCluster(folder: string): Promise<void> {
  const template = join(
    tmpdir(),
    `mediary-testing-template-${process.getuid?.() ?? 0}-${await hashSources()}`,
  );
  const cluster = join(template, CLUSTER);
  if (!isUsable(template)) await createOnce(template, fillTemplate);
  if (lstatSync(cluster).isSymbolicLink())
    throw new Error(
      `The user of PostgreSQL cannot enter ${tmpdir()}. Set TMPDIR to a folder that it can enter`,
    );
  await run('cp', ['-a', cluster, join(folder, CLUSTER)]);
}

/** Other users can write to the temporary folder, so an existing one must be this user's alone. */
function isUsable(template: string): boolean {
  const found = lstatSync(template, { throwIfNoEntry: false });
  if (!found) return false;
  if (found.isDirectory() && found.uid === (process.getuid?.() ?? found.uid) && (found.mode & 0o022) === 0)
    return true;
  throw new Error(`${template} can be written by other users. Check its content and remove it`);
}

async function fillTemplate(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  const server = await startEmbeddedPostgres(folder, { settings: SERVER_SETTINGS });
  await createTables(server.connection).finally(server.stop);
}

async function createTables(connection: EmbeddedPostgres['connection']): Promise<void> {
  await runStatements(connection, [
    CREATE_CLOCK,
    `alter database ${connection.database} set search_path = ${CLOCK_PATH}`,
  ]);
  // Loaded for a new template alone.
  const { migrate } = await import('@mediary/service/platform/postgres/migrate');
  const { migrateJobSchema } = await import('@mediary/service/platform/jobs/open-boss');
  await migrate(connection);
  await migrateJobSchema(connection, 'assetId', (error) => {
    throw error;
  });
  await runStatements(connection, [MOVE_JOB_CLOCK]);
}

async function runStatements(
  connection: EmbeddedPostgres['connection'],
  statements: readonly string[],
): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A change of PostgreSQL, of a migration or of this file needs another cluster. */
async function hashSources(): Promise<string> {
  const hash = createHash('sha256');
  for (const path of [join(findInstalledPackage(), 'package.json'), import.meta.filename])
    hash.update(await readFile(path));
  for (const { name, text } of await readMigrations(MIGRATIONS_FOLDER)) hash.update(`${name}\0${text}\0`);
  return hash.digest('hex').slice(0, 16);
}
