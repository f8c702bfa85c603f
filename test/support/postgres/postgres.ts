// PostgreSQL for tests that need no more of the service.
import pg from 'pg';
import type { Connection } from '../../../service/src/platform/postgres/connection.ts';
import { type Database, openDatabase } from '../../../service/src/platform/postgres/database.ts';
import type { EmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { createEmptyDatabase, createMigratedDatabase, type TestDatabase } from './test-databases.ts';

export type TestPostgres = {
  /** A new database without tables. */
  database(): Promise<Connection>;
  /** A new database with all tables and queues. */
  migrated(): Promise<Connection>;
  /** Deletes the databases. */
  stop(): Promise<void>;
};

export async function startTestPostgres(): Promise<TestPostgres> {
  const databases: TestDatabase[] = [];
  const create = async (database: Promise<TestDatabase>): Promise<Connection> => {
    databases.push(await database);
    return (await database).connection;
  };
  return {
    database: () => create(createEmptyDatabase()),
    migrated: () => create(createMigratedDatabase()),
    stop: async () => {
      for (const database of databases) await database.drop();
    },
  };
}

/** An embedded server as DATABASE_URL names it. */
export const urlOf = ({
  connection: { host, port, user, database },
}: Pick<EmbeddedPostgres, 'connection'>): string =>
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
