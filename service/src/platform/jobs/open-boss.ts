// Opens pg-boss, and declares a queue for each kind of job.
import { PgBoss, type Queue, type QueueResult } from 'pg-boss';
import { type JobDatabase, openJobDatabase } from '../postgres/job-database.ts';
import type { JobRetention } from './finished-jobs.ts';
import { createJobIndexes } from './job-order.ts';
import { assertJobSchema, stopStatistics } from './job-schema.ts';
import { type JobSettings, queuesOf } from './job-settings.ts';
import type { Connection } from '../postgres/connection.ts';
import type { NotificationChannels } from '../postgres/notifications.ts';

/**
 * Another process starts the job of a killed one within 30 s: `watchDueJobs` finds it at most 6 s after
 * HEARTBEAT_S.
 */
const HEARTBEAT_S = 15;
/** Deletes failed jobs, and ends runs of hanging processes. Each pass of a process costs ten statements. */
const SUPERVISE_S = 600;
/** The least that pg-boss allows: a process that finds a lost run ends it at once. */
const MONITOR_S = 1;
/** No job depends on another one. */
const FLOW_S = 3600;
/** Unfinished migrations of pg-boss; it looks for them at the start too. */
const MIGRATION_CHECK_S = 600;
/** A job of a provider may wait for a process that is not set up yet. */
const PROVIDER_RETENTION_S = 365 * 86_400;

type BossOptions = {
  readonly connection: Connection;
  readonly channels: NotificationChannels | undefined;
  readonly isMigrating: boolean;
  readonly isSupervising: boolean;
  readonly retention: JobRetention;
};
type QueueSettings = Omit<Queue, 'name' | 'policy' | 'partition' | 'deadLetter'>;
type OpenedBoss = { readonly boss: PgBoss; readonly db: JobDatabase };

export async function openBoss(
  { connection, channels, isMigrating, isSupervising, retention }: BossOptions,
  settings: Readonly<Record<string, JobSettings>>,
  onError: (error: Error) => void,
): Promise<OpenedBoss> {
  const db = openJobDatabase({ connection, channels, onError });
  const boss = new PgBoss({
    db,
    useListenNotify: true,
    supervise: isSupervising,
    superviseIntervalSeconds: SUPERVISE_S,
    monitorIntervalSeconds: MONITOR_S,
    flowIntervalSeconds: FLOW_S,
    bamIntervalSeconds: MIGRATION_CHECK_S,
    // `watchSchedules` needs one job instead of two.
    schedule: false,
    reindex: false,
  });
  boss.on('error', onError);
  if (!isMigrating) await assertJobSchema(db);
  await boss.start();
  await stopStatistics(db);
  await declareQueues(boss, settings, retention);
  return { boss, db };
}

/** Creates or changes the tables of the queue. Runs no jobs and no maintenance. */
export async function migrateJobSchema(
  connection: Connection,
  searchedMember: string,
  onError: (error: Error) => void,
): Promise<void> {
  const db = openJobDatabase({ connection, onError });
  const boss = new PgBoss({ db, supervise: false, schedule: false });
  boss.on('error', onError);
  try {
    await boss.start();
    await stopStatistics(db);
    await createJobIndexes(db, searchedMember);
  } finally {
    await boss.stop({ graceful: false });
    await db.close();
  }
}

/** Writes only queues that are new or differ, so that a restart writes none. */
async function declareQueues(
  boss: PgBoss,
  settings: Readonly<Record<string, JobSettings>>,
  retention: JobRetention,
): Promise<void> {
  const existing = new Map((await boss.getQueues()).map((queue) => [queue.name, queue]));
  for (const [name, job] of Object.entries(settings)) {
    const options = toQueueOptions(job, retention);
    for (const queue of queuesOf(name, job)) {
      const current = existing.get(queue);
      if (!current) await boss.createQueue(queue, { ...options, ...(job.providers && { policy: 'short' }) });
      else if (!hasOptions(current, options)) await boss.updateQueue(queue, options);
    }
  }
}

const hasOptions = (queue: QueueResult, options: QueueSettings): boolean =>
  Object.entries(options).every(([name, value]) => queue[name as keyof QueueSettings] === value);

const toQueueOptions = (job: JobSettings, retention: JobRetention): QueueSettings => ({
  notify: true,
  heartbeatSeconds: HEARTBEAT_S,
  expireInSeconds: job.expireIn,
  retryLimit: job.retries,
  retryDelay: job.retryDelay,
  retryBackoff: job.retryDelayMax !== undefined,
  ...(job.retryDelayMax !== undefined && { retryDelayMax: job.retryDelayMax }),
  deleteAfterSeconds: retention.failedSeconds,
  ...(job.providers && { retentionSeconds: PROVIDER_RETENTION_S }),
});
