// The schema of the job queue's library, which the library creates and migrates by itself.
import library from 'pg-boss/package.json' with { type: 'json' };

type Sql = { executeSql(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }> };

/** The version that this release needs. The library runs on a newer one without a check of its own. */
export const JOB_SCHEMA_VERSION: number = library.pgboss.schema;

/** Undefined where there is none. */
export async function findJobSchemaVersion(db: Sql): Promise<number | undefined> {
  const { rows: tables } = await db.executeSql(
    "select to_regclass('pgboss.version') is not null as is_there",
  );
  if (!(tables as { is_there: boolean }[])[0]?.is_there) return undefined;
  const { rows } = await db.executeSql('select version from pgboss.version');
  return (rows as { version: number }[])[0]?.version;
}

/**
 * The library would count all jobs every few seconds, finished ones included: 0.4 s for 670 000. Metrics
 * count open jobs only. The column is the time before which the library does not count.
 */
export const stopStatistics = (db: Sql): Promise<unknown> =>
  db.executeSql(
    `update pgboss.version set monitor_backoff_on = '2200-01-01'
      where monitor_backoff_on is distinct from '2200-01-01'`,
  );

/** For a role that cannot create or migrate it. */
export async function assertJobSchema(db: Sql): Promise<void> {
  const version = await findJobSchemaVersion(db);
  if (version === undefined || version < JOB_SCHEMA_VERSION)
    throw new Error(
      `The schema of the job queue is ${version ?? 'missing'}, this release needs ${JOB_SCHEMA_VERSION}. ` +
        'Run "npm run migrate" with a role that owns the tables, or start with MIGRATE_AT_START=on.',
    );
}
