// Opens pg-boss, and declares a queue for each kind of job.
import { PgBoss } from 'pg-boss';
import { type JobDatabase, openJobDatabase } from '../postgres/job-database.ts';
import type { JobRetention } from './finished-jobs.ts';
import { createJobIndexes } from './job-order.ts';
import { assertJobSchema, stopStatistics } from './job-schema.ts';
import { type JobSettings, queuesOf } from './job-settings.ts';
import type { Connection } from '../postgres/connection.ts';
import type { NotificationChannels } from '../postgres/notifications.ts';

/**
 * Another process starts the job of a killed one within 30 s: after HEARTBEAT_S + SUPERVISE_S, and at most
 * 2 s in `watchDueJobs`.
 */
const HEARTBEAT_S = 15;
const SUPERVISE_S = 6;
/** A job of a provider may wait for a process that is not set up yet. */
const PROVIDER_RETENTION_S = 365 * 86_400;

type BossOptions = {
  readonly connection: Connection;
  readonly channels: NotificationChannels | undefined;
  readonly isMigrating: boolean;
  readonly retention: JobRetention;
};
type OpenedBoss = { readonly boss: PgBoss; readonly db: JobDatabase };

export async function openBoss(
  { connection, channels, isMigrating, retention }: BossOptions,
  settings: Readonly<Record<string, JobSettings>>,
  onError: (error: Error) => void,
): Promise<OpenedBoss> {
  const db = openJobDatabase({ connection, channels, onError });
  const boss = new PgBoss({
    db,
    useListenNotify: true,
    superviseIntervalSeconds: SUPERVISE_S,
    monitorIntervalSeconds: SUPERVISE_S,
    reindex: false,
  });
  boss.on('error', onError);
  if (!isMigrating) await assertJobSchema(db);
  await boss.start();
  await stopStatistics(db);
  for (const [name, job] of Object.entries(settings))
    for (const queue of queuesOf(name, job)) await declareQueue(boss, { name: queue, job, retention });
  await removeOldSchedules(boss, settings);
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

async function declareQueue(
  boss: PgBoss,
  { name, job, retention }: { name: string; job: JobSettings; retention: JobRetention },
): Promise<void> {
  const options = {
    notify: true,
    heartbeatSeconds: HEARTBEAT_S,
    expireInSeconds: job.expireIn,
    retryLimit: job.retries,
    retryDelay: job.retryDelay,
    retryBackoff: job.retryDelayMax !== undefined,
    ...(job.retryDelayMax !== undefined && { retryDelayMax: job.retryDelayMax }),
    deleteAfterSeconds: retention.failedSeconds,
    ...(job.providers && { retentionSeconds: PROVIDER_RETENTION_S }),
  };
  await boss.createQueue(name, { ...options, ...(job.providers && { policy: 'short' }) });
  await boss.updateQueue(name, options);
  if (job.cron) await boss.schedule(name, job.cron, {});
}

/** An earlier release may have scheduled jobs that no longer exist and that no worker would run. */
async function removeOldSchedules(boss: PgBoss, settings: object): Promise<void> {
  for (const { name } of await boss.getSchedules()) if (!(name in settings)) await boss.unschedule(name);
}
