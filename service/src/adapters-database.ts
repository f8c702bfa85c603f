// Opens the database: the embedded server or DATABASE_URL, the pool, notifications and the job queue.
import {
  type EmbeddedPostgres,
  type LauncherOptions,
  openEmbeddedPostgres,
  startEmbeddedPostgres,
} from '@mediary/embedded-postgres/launcher';
import type { Config } from './config.ts';
import { type JobPayloads, jobSettings } from './jobs.ts';
import { concurrencyOf } from './open-decoders.ts';
import { type JobQueue, openJobs } from './platform/jobs/job-queue.ts';
import { migrateJobSchema } from './platform/jobs/open-boss.ts';
import type { Logger } from './platform/observability/logger.ts';
import type { Metrics } from './platform/observability/metrics.ts';
import { type Connection, toConnection } from './platform/postgres/connection.ts';
import {
  type Database,
  type Inspect,
  listMissingRoleSettings,
  openDatabase,
} from './platform/postgres/database.ts';
import { migrateAtStart } from './platform/postgres/migrate-at-start.ts';
import {
  type NotificationChannels,
  type Notifications,
  openChannels,
} from './platform/postgres/notifications.ts';

export type Postgres = {
  readonly connection: Connection;
  /** For the start message. */
  readonly dataFolder: string;
  readonly embedded?: EmbeddedPostgres;
  /** Stops the embedded server. */
  stop(): Promise<void>;
};

type DatabaseSettings = Pick<Config, 'databaseUrl' | 'databaseListenUrl' | 'dataDir'>;

/** Starts the embedded server unless DATABASE_URL is set. */
export async function openPostgres(
  { databaseUrl, databaseListenUrl, dataDir }: DatabaseSettings,
  { shares, ...options }: LauncherOptions & { readonly shares?: boolean | undefined },
): Promise<Postgres> {
  if (databaseUrl === undefined) {
    const postgres = shares
      ? await openEmbeddedPostgres(dataDir)
      : await startEmbeddedPostgres(dataDir, options);
    return { ...postgres, embedded: postgres };
  }
  const connection = toConnection(databaseUrl, databaseListenUrl);
  return { connection, dataFolder: 'DATABASE_URL', stop: async () => {} };
}

export type OpenedDatabase = {
  readonly db: Database;
  /** The ids of changed assets. */
  readonly notifications: Notifications;
  readonly jobs: JobQueue<JobPayloads>;
  readonly channels: NotificationChannels;
};

type DatabaseObservers = {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly inspect?: Inspect | undefined;
};

/** Migrates the schema first, because the pool and the queue use it. */
export async function openDatabaseAndJobs(
  connection: Connection,
  config: Config,
  { log, inspect, metrics }: DatabaseObservers,
): Promise<OpenedDatabase> {
  const isMigrating = config.start.migrations === 'on';
  await migrateAtStart(connection, { ...config.start, isMigrating, log });
  const logWarning = (message: string) => (error: Error) => log.warn({ err: error }, message);
  const db = openDatabase({
    connection,
    onIdleError: logWarning('an idle database connection was lost'),
    inspect,
    metrics,
  });
  if (connection.direct) await warnAboutRole(db, log);
  const channels = openChannels({
    connection,
    onError: logWarning('the connection for notifications was lost'),
  });
  const notifications: Notifications = {
    subscribe: (listener) => channels.subscribe(ASSET_CHANNEL, listener),
  };
  const jobs = await openJobQueue(
    { connection, channels, isMigrating, onError: logWarning('job queue error') },
    config,
  );
  return { db, channels, notifications, jobs };
}

async function warnAboutRole(db: Database, log: Logger): Promise<void> {
  const statements = await listMissingRoleSettings(db);
  if (statements.length > 0)
    log.warn(
      { statements },
      'behind a pooler the database role needs these settings, which limit statements',
    );
}

/** The store notifies it of every visible change (lifecycle/store.sql.ts). */
const ASSET_CHANNEL = 'mediary_events';

/** Of the payloads of jobs. */
const SEARCHED_MEMBER = 'assetId';

type QueueOptions = Parameters<typeof openJobs<JobPayloads>>[0];

/** Creates or migrates the schema of the queue and declares all queues, unless it is not `isMigrating`. */
const openJobQueue = (
  where: Pick<QueueOptions, 'connection' | 'channels' | 'isMigrating' | 'onError'>,
  config: Config,
): Promise<JobQueue<JobPayloads>> =>
  openJobs({
    ...where,
    settings: jobSettings({
      ...config.importLimits,
      encodeConcurrency: concurrencyOf(config),
      hostedProviders: config.providers
        .filter(({ module }) => module.kind === 'hosted')
        .map(({ module }) => module.name),
    }),
    isSupervising: config.role !== 'api',
    retention: config.jobRetention,
    searchedMember: SEARCHED_MEMBER,
    describePayload: (payload) =>
      'assetId' in payload ? { 'mediary.asset_id': String(payload.assetId) } : {},
  });

/** For commands: the database as it is. `shares`: also beside a running service. */
export async function openUnmigrated(
  settings: DatabaseSettings,
  { shares }: { readonly shares?: boolean } = {},
) {
  const onError = (error: Error) => {
    throw error;
  };
  const { connection, stop } = await openPostgres(settings, { onExit: onError, shares });
  const migrateJobs = () => migrateJobSchema(connection, SEARCHED_MEMBER, onError);
  return { connection, migrateJobs, close: stop };
}
