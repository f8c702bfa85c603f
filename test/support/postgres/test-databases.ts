// Databases in the PostgreSQL server of the suite: migrated ones for services, and ones for tests.
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { newDatabaseDir } from '../service/data-folders.ts';

export type TestDatabase = {
  readonly connection: EmbeddedPostgres['connection'];
  /** Closes its sessions and deletes it. */
  drop(): Promise<void>;
};

const server = inject('postgres');

/** False in suites whose services start servers of their own. */
export const hasSharedServer = server !== undefined;

/** With all tables and queues, like that of a service which has started. */
export const createMigratedDatabase = (): Promise<TestDatabase> => createDatabase('mediary');

export const createEmptyDatabase = (): Promise<TestDatabase> => createDatabase('template1');

async function createDatabase(template: string): Promise<TestDatabase> {
  if (!server) throw new Error('this suite has no PostgreSQL server');
  const name = `test_${randomBytes(8).toString('hex')}`;
  await runStatement(`create database ${name} template ${template} strategy file_copy`);
  return {
    connection: { ...server, database: name },
    drop: () => runStatement(`drop database ${name} with (force)`),
  };
}

let pool: pg.Pool | undefined;

async function runStatement(text: string): Promise<void> {
  pool ??= new pg.Pool({ ...server, database: 'postgres', max: 2, allowExitOnIdle: true });
  await pool.query(text);
}

const byFolder = new Map<string, TestDatabase['connection']>();

/** The database of a data folder: in the server of the suite, else in one of its own. */
export async function createDatabaseOf(dataDir: string): Promise<TestDatabase> {
  const { connection, drop } = await (server ? createMigratedDatabase() : startOwnServer());
  byFolder.set(dataDir, connection);
  return {
    connection,
    drop: async () => {
      byFolder.delete(dataDir);
      await drop();
    },
  };
}

async function startOwnServer(): Promise<TestDatabase> {
  const folder = await newDatabaseDir();
  const { connection, stop } = await startEmbeddedPostgres(folder);
  return {
    connection,
    drop: async () => {
      await stop();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** How to reach the database of a running service by its data folder. */
export const connectionOf = (dataDir: string): TestDatabase['connection'] =>
  byFolder.get(dataDir) ?? {
    host: join(dataDir, 'postgres'),
    port: 5432,
    user: 'postgres',
    database: 'mediary',
  };
