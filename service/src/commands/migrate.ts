// `npm run migrate`: changes the tables for this release as a step of its own, or shows what it would do.
import { parseArgs } from 'node:util';
import { findJobSchemaVersion, JOB_SCHEMA_VERSION } from '../platform/jobs/job-schema.ts';
import { type Connection, connectClient } from '../platform/postgres/connection.ts';
import { migrate, planMigrations } from '../platform/postgres/migrate.ts';
import type { MigrationFile } from '../platform/postgres/migration-files.ts';

export const MIGRATE_USAGE = 'npm run migrate -- [--plan]';

type MigrateContext = {
  readonly connection: Connection;
  readonly migrateJobs: () => Promise<void>;
  readonly print: (text: string) => void;
};

export async function runMigrateCommand(
  { connection, migrateJobs, print }: MigrateContext,
  args: readonly string[],
): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { plan: { type: 'boolean', default: false } } });
  const missing = await planMigrations(connection);
  for (const file of missing) print(`${describe(file)}\n`);
  const version = await readJobSchemaVersion(connection);
  const isQueueOld = version === undefined || version < JOB_SCHEMA_VERSION;
  if (isQueueOld) print(`job queue: schema ${version ?? 'none'} to ${JOB_SCHEMA_VERSION}\n`);
  if (missing.length === 0 && !isQueueOld) print('All migrations of this release are applied.\n');
  if (values.plan) return;
  await migrate(connection);
  await migrateJobs();
  print('Done.\n');
}

const describe = ({ name, number, oldestCompatible, concurrent }: MigrationFile): string => {
  const how = concurrent ? 'builds indexes while writes go on' : 'in one transaction';
  const older =
    oldestCompatible < number
      ? `releases with migration ${oldestCompatible} or later may run meanwhile and start again`
      : 'stop all processes of older releases before';
  return `${name}: ${how}; ${older}`;
};

async function readJobSchemaVersion(connection: Connection): Promise<number | undefined> {
  const client = await connectClient(connection, { connectionTimeoutMillis: 10_000 });
  try {
    return await findJobSchemaVersion({ executeSql: (text) => client.query(text) });
  } finally {
    await client.end();
  }
}
