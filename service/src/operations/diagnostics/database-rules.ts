// Judges what the database says about itself: version, migrations, clock, connections, queue.
import { type Finding, notChecked, ok, problem, warning } from '@mediary/checks/finding';

const MIN_VERSION = 15;

/** `server_version_num`: 150004 is 15.4. */
export function judgeVersion(versionNumber: number): Finding {
  const check = 'database.version';
  const major = Math.floor(versionNumber / 10_000);
  const details = { version: `${major}.${versionNumber % 10_000}` };
  return major >= MIN_VERSION
    ? ok(check, `PostgreSQL ${details.version}.`, details)
    : problem(check, {
        message: `PostgreSQL ${details.version} is older than ${MIN_VERSION}.`,
        fix: `Upgrade PostgreSQL to ${MIN_VERSION} or newer.`,
        details,
      });
}

type Migrations = { readonly applied: readonly number[]; readonly known: readonly number[] };

export function judgeMigrations({ applied, known }: Migrations): Finding {
  const check = 'database.migrations';
  const missing = known.filter((number) => !applied.includes(number));
  const newer = applied.filter((number) => !known.includes(number));
  const details = { applied: applied.length, known: known.length };
  if (missing.length > 0)
    return problem(check, {
      message: `Migrations are missing: ${missing.join(', ')}.`,
      fix:
        'Run "npm run migrate", or restart this process with MIGRATE_AT_START=on. ' +
        'Restore a backup if rows of migrations were removed.',
      details: { ...details, missing },
    });
  if (newer.length > 0)
    return warning(check, {
      message: `The database has migrations of a newer release: ${newer.join(', ')}.`,
      fix: 'Upgrade this process to the release of the others.',
      details: { ...details, newer },
    });
  return ok(check, `Every migration of this release is applied (${known.length}).`, details);
}

const SKEW = { warningMs: 1000, problemMs: 60_000 };

/** `skewMs` is positive when the other clock is ahead; it is known up to `errorMs`. */
export function judgeClock(
  check: string,
  { other, skewMs, errorMs }: { readonly other: string; readonly skewMs: number; readonly errorMs: number },
): Finding {
  const details = { skew_ms: Math.round(skewMs), error_ms: Math.round(errorMs) };
  const distance = Math.max(0, Math.abs(skewMs) - errorMs);
  if (distance < SKEW.warningMs) return ok(check, `The clocks of this machine and ${other} agree.`, details);
  const seconds = (Math.abs(skewMs) / 1000).toFixed(1);
  const trouble = {
    message: `The clock of ${other} is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} this machine.`,
    fix: 'Synchronize the clocks of all machines by NTP: tokens, signatures and schedules depend on them.',
    details,
  };
  return distance < SKEW.problemMs ? warning(check, trouble) : problem(check, trouble);
}

type LongTransaction = { readonly pid: number; readonly state: string | null; readonly seconds: number };

export function judgeTransactions(found: readonly LongTransaction[]): Finding {
  const check = 'database.long_transactions';
  const [longest] = found;
  if (!longest) return ok(check, 'No transaction is older than a minute.');
  return warning(check, {
    message:
      `${found.length} transactions are older than a minute, the oldest ${longest.seconds} s. ` +
      'They delay event streams, outbound webhooks and the removal of dead rows.',
    fix:
      'Find the client by its process id in pg_stat_activity and end it, for example by ' +
      `"select pg_terminate_backend(${longest.pid})". Set idle_in_transaction_session_timeout.`,
    details: { transactions: found },
  });
}

/** One process has a pool (10), the job queue (4) and a listener. */
const CONNECTIONS_PER_PROCESS = 15;

type Connections = { readonly max: number; readonly reserved: number; readonly used: number };

export function judgeConnections({ max, reserved, used }: Connections): Finding {
  const check = 'database.connections';
  const free = max - reserved - used;
  const details = { max_connections: max, reserved, used, free, per_process: CONNECTIONS_PER_PROCESS };
  if (free >= CONNECTIONS_PER_PROCESS) return ok(check, `${free} of ${max} connections are free.`, details);
  return (free > 2 ? warning : problem)(check, {
    message: `Only ${Math.max(0, free)} of ${max} connections are free.`,
    fix:
      `Raise max_connections: each process uses up to ${CONNECTIONS_PER_PROCESS}, and one more process is ` +
      'needed during a rolling restart. Or end other clients of the server.',
    details,
  });
}

type SlowStatement = { readonly query_id: string; readonly calls: number; readonly mean_ms: number };

export function judgeStatements(found: readonly SlowStatement[]): Finding {
  const check = 'database.slow_queries';
  if (found.length === 0) return ok(check, 'No statement takes more than 100 ms on average.');
  return warning(check, {
    message: `${found.length} statements take more than 100 ms on average.`,
    fix:
      'Look them up by queryid in pg_stat_statements. Run ANALYZE, and check memory and disk of the ' +
      'server. Report a statement of the service that stays slow.',
    details: { statements: found },
  });
}

export const statementsNotChecked = (): Finding =>
  notChecked(
    'database.slow_queries',
    'The extension pg_stat_statements is not active.',
    'Add pg_stat_statements to shared_preload_libraries, restart PostgreSQL, and run ' +
      '"create extension pg_stat_statements" in this database.',
  );

type Partition = { readonly name: string; readonly is_current: boolean };

export function judgePartitions(missing: readonly Partition[]): Finding {
  const check = 'database.partitions';
  if (missing.length === 0) return ok(check, 'The partitions of this month and the next one exist.');
  const names = missing.map(({ name }) => name);
  return (missing.some(({ is_current }) => is_current) ? problem : warning)(check, {
    message: `Partitions are missing: ${names.join(', ')}.`,
    fix: 'Start a worker: its job maintain-partitions creates them every hour.',
    details: { missing: names },
  });
}

type DeadRows = { readonly table: string; readonly live: number; readonly dead: number };

export function judgeDeadRows(found: readonly DeadRows[]): Finding {
  const check = 'database.dead_rows';
  if (found.length === 0) return ok(check, 'Dead rows are removed in time.');
  const names = found.map(({ table }) => table).join(', ');
  return warning(check, {
    message: `Tables have more dead rows than live ones: ${names}.`,
    fix:
      `Run "vacuum (analyze) ${found[0]?.table ?? ''}", and check that autovacuum is on and that long ` +
      'transactions end.',
    details: { tables: found },
  });
}

type QueueState = {
  readonly name: string;
  readonly waiting: number;
  readonly running: number;
  readonly failed: number;
  /** The age of the oldest job that may start; null if there is none. */
  readonly oldest_s: number | null;
};

const OLD_S = 600;

export function judgeQueue(queues: readonly QueueState[]): Finding {
  const check = 'queue';
  const late = queues.filter(({ oldest_s }) => (oldest_s ?? 0) > OLD_S);
  const failed = queues.filter((queue) => queue.failed > 0);
  const details = { queues };
  const names = (list: readonly QueueState[]) => list.map(({ name }) => name).join(', ');
  if (late.length > 0)
    return warning(check, {
      message: `Jobs wait for more than ${OLD_S / 60} minutes: ${names(late)}.`,
      fix:
        'Start more workers, or raise ENCODE_CONCURRENCY if they have free cores. Jobs of a hosted ' +
        'provider wait for a worker with its settings.',
      details,
    });
  if (failed.length > 0)
    return warning(check, {
      message: `Jobs failed for good within the last day: ${names(failed)}.`,
      fix: 'Look for the name of the job in the log of the workers. The assets show their failure.',
      details,
    });
  return ok(check, 'Jobs are worked off.', details);
}
