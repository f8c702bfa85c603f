// A PostgreSQL server for tests that need no more of the service: one for each test file, and databases in it
// for the asking.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Connection } from '../../../service/src/platform/postgres/connection.ts';
import { type Database, openDatabase } from '../../../service/src/platform/postgres/database.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { copyMigratedCluster } from './migrated-cluster.ts';

export type TestPostgres = {
  /** An empty database of that name. */
  database(name: string): Promise<Connection>;
  stop(): Promise<void>;
};

export async function startTestPostgres(): Promise<TestPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-test-'));
  await chmod(folder, 0o755);
  await copyMigratedCluster(folder);
  const { connection, stop } = await startEmbeddedPostgres(folder);
  return {
    database: async (name) => {
      await rowsOf(connection, `create database ${pg.escapeIdentifier(name)}`);
      return { ...connection, database: name };
    },
    stop: async () => {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** An embedded server as DATABASE_URL names it. */
export const urlOf = ({ connection: { host, port, user, database } }: EmbeddedPostgres): string =>
  `postgresql://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;

/** A client whose idle connections must not fail. */
export const openTestDatabase = (connection: Connection): Database =>
  openDatabase({
    connection,
    onIdleError: (error) => {
      throw error;
    },
  });

/** One statement on a connection of its own. */
export async function rowsOf(
  connection: Connection,
  text: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(connection);
  await client.connect();
  return client
    .query(text, values)
    .then(({ rows }) => rows)
    .finally(() => client.end());
}
