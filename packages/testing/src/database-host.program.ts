// The process that holds the database server and the folder of a run of tests. It removes both at its end,
// which comes with the end of the process that started it, however that ends.
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import pg from 'pg';
import { serveCalls } from './child-program.ts';
import { CLOCK_PATH, copyTemplateCluster, SERVER_SETTINGS } from './template-cluster.ts';

type Database = { readonly name: string };

const folder = await mkdtemp(join(tmpdir(), 'mediary-testing-'));
/** The user of PostgreSQL may be another one than that of the tests. */
const OPEN_TO_ENTER = 0o755;
const starting = startServer();
// A failed start is told to those who ask for a database.
starting.catch(() => {});

async function startServer(): Promise<EmbeddedPostgres> {
  await chmod(folder, OPEN_TO_ENTER);
  await copyTemplateCluster(folder);
  return startEmbeddedPostgres(folder, { settings: SERVER_SETTINGS });
}

async function query(statements: readonly string[]): Promise<void> {
  const { connection } = await starting;
  const client = new pg.Client({ ...connection, database: 'postgres' });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

const functions = {
  /** Returns the settings of a service with a database and a folder of its own. */
  createDatabase: async ({ name }: Database): Promise<Record<'DATABASE_URL' | 'DATA_DIR', string>> => {
    const { connection } = await starting;
    const quoted = pg.escapeIdentifier(name);
    await query([
      `create database ${quoted} template ${connection.database}`,
      `alter database ${quoted} set search_path = ${CLOCK_PATH}`,
    ]);
    const dataDir = join(folder, name);
    await mkdir(dataDir);
    const address = new URLSearchParams({ host: connection.host, port: String(connection.port) });
    return { DATABASE_URL: `postgresql://${connection.user}@/${name}?${address}`, DATA_DIR: dataDir };
  },
  dropDatabase: async ({ name }: Database): Promise<void> => {
    await query([`drop database if exists ${pg.escapeIdentifier(name)} with (force)`]);
    await rm(join(folder, name), { recursive: true, force: true, maxRetries: 5 });
  },
};
export type DatabaseHostFunctions = typeof functions;

serveCalls(functions, async () => {
  const server = await starting.catch(() => undefined);
  await server?.stop();
  // Services that end at the same time may still write.
  await rm(folder, { recursive: true, force: true, maxRetries: 20 });
});
