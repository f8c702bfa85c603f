// `npm run migrate`: changes the tables for this release as a step of its own, or shows what it would do.
import { parseArgs } from 'node:util';
import { findJobSchemaVersion, JOB_SCHEMA_VERSION } from '../platform/jobs/job-schema.ts';
import { type Connection, connectClient } from '../platform/postgres/connection.ts';
import { migrate, planMigrations } from '../platform/postgres/migrate.ts';
import { retryUntilAvailable } from '../platform/postgres/migrate-at-start.ts';
import type { MigrationFile } from '../platform/postgres/migration-files.ts';

export const MIGRATE_USAGE = 'npm run migrate -- [--plan] [--json]';

/** Of `--plan`, so that scripts tell it from a failure, which is 1. */
const PENDING_EXIT_CODE = 3;

type MigrateContext = {
  readonly connection: Connection;
  readonly migrateJobs: () => Promise<void>;
  readonly timeoutSeconds: number;
  readonly print: (text: string) => void;
  readonly printProgress: (text: string) => void;
};

type MigrateArguments = { readonly plan: boolean; readonly json: boolean };

export function parseMigrateArguments(args: readonly string[]): MigrateArguments {
  const { values } = parseArgs({
    args: [...args],
    options: { plan: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
  });
  return values;
}

/** Returns the exit code. */
export async function runMigrateCommand(
  context: MigrateContext,
  { plan: isPlan, json }: MigrateArguments,
): Promise<number> {
  const { print, connection } = context;
  const plan = await retry(context, () => readPlan(connection));
  if (!json) print(renderPlan(plan));
  const applied = isPlan ? [] : await retry(context, () => apply(context));
  if (json) print(`${JSON.stringify(toJson(plan, applied), null, 2)}\n`);
  else if (!isPlan) print(`Done. Files that this command applied: ${applied.join(', ') || 'none'}.\n`);
  const isPending = plan.pending.length > 0 || isQueuePending(plan);
  return isPlan && isPending ? PENDING_EXIT_CODE : 0;
}

/** As at the start, because a database of a container or after a failover may be late. */
const retry = <T>({ timeoutSeconds, printProgress }: MigrateContext, step: () => Promise<T>): Promise<T> =>
  retryUntilAvailable(step, {
    timeoutMs: timeoutSeconds * 1000,
    onRetry: (error, delayMs) =>
      printProgress(`The database is not available (${describeError(error)}). Retry in ${delayMs} ms.\n`),
  }).catch(explainMissingRight);

const apply = ({ connection, migrateJobs, printProgress }: MigrateContext): Promise<string[]> =>
  migrate(connection, { onWait: (message) => printProgress(`${message}\n`), finish: migrateJobs });

type MigrationPlan = {
  readonly pending: readonly MigrationFile[];
  /** Undefined where there is none. */
  readonly queueVersion: number | undefined;
};

const readPlan = async (connection: Connection): Promise<MigrationPlan> => ({
  pending: await planMigrations(connection),
  queueVersion: await readJobSchemaVersion(connection),
});

const isQueuePending = ({ queueVersion = 0 }: MigrationPlan): boolean => queueVersion < JOB_SCHEMA_VERSION;

function renderPlan(plan: MigrationPlan): string {
  const lines = plan.pending.map(describeMigration);
  if (isQueuePending(plan))
    lines.push(`job queue: schema ${plan.queueVersion ?? 'none'} to ${JOB_SCHEMA_VERSION}`);
  if (lines.length === 0) lines.push('All migrations of this release are applied.');
  return `${lines.join('\n')}\n`;
}

function describeMigration(file: MigrationFile): string {
  const how = file.concurrent ? 'builds indexes while writes go on' : 'in one transaction';
  const older = isCompatible(file)
    ? `releases with migration ${file.oldestCompatible} or later may run meanwhile and start again`
    : 'stop all processes of older releases before';
  return `${file.name}: ${how}; ${older}`;
}

const isCompatible = ({ oldestCompatible, number }: MigrationFile): boolean => oldestCompatible < number;

const toJson = (plan: MigrationPlan, applied: readonly string[]) => ({
  pending: plan.pending.map((file) => ({
    name: file.name,
    in_transaction: file.concurrent === undefined,
    oldest_compatible: isCompatible(file) ? file.oldestCompatible : null,
  })),
  job_queue: { schema_version: plan.queueVersion ?? null, needed_version: JOB_SCHEMA_VERSION },
  applied,
});

async function readJobSchemaVersion(connection: Connection): Promise<number | undefined> {
  const client = await connectClient(connection, { connectionTimeoutMillis: 10_000 });
  try {
    return await findJobSchemaVersion({ executeSql: (text) => client.query(text) });
  } finally {
    await client.end();
  }
}

/** Node reports a host with several addresses by an error without a message. */
const describeError = (error: unknown): string =>
  error instanceof Error ? error.message || String((error as NodeJS.ErrnoException).code) : String(error);

const INSUFFICIENT_PRIVILEGE = '42501';

function explainMissingRight(error: unknown): never {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if ((cause as { code?: unknown }).code !== INSUFFICIENT_PRIVILEGE) throw error;
  throw new Error('The role of DATABASE_URL lacks a right. Use the role that owns the tables.', { cause });
}
