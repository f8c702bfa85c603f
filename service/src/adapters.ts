// Opens the adapters of all ports, embedded or external, by the settings. The only importer of adapters.
import { hostname } from 'node:os';
import type { IssuerKeys } from './auth/tokens/issuer-keys.ts';
import { toSecret, type Secret } from './auth/secret.ts';
import { deriveKey } from './auth/signed-token.ts';
import { openStore, warnIfUnavailable } from './adapters-store.ts';
import type { Config } from './config.ts';
import type { Callback } from './encoding/encoder-report.ts';
import { findFfmpeg } from './encoding/ffmpeg/process/find-ffmpeg.ts';
import { openHttpCallback } from './encoding/http-callback.ts';
import { measureEncoder } from './encoding/measured-encoder.ts';
import { type JobPayloads, jobSettings } from './jobs.ts';
import {
  assertFfmpegSetting,
  concurrencyOf,
  type Decoders,
  openDecoders,
  scratchFolder,
} from './open-decoders.ts';
import { databaseSpaceGuard, type SpaceGuard } from './platform/disk/free-space.ts';
import { type JobQueue, openJobs } from './platform/jobs/job-queue.ts';
import type { Logger } from './platform/observability/logger.ts';
import { createProcessMetrics, type Metrics } from './platform/observability/metrics.ts';
import { type Connection, type Database, type Inspect, openDatabase } from './platform/postgres/database.ts';
import {
  type LauncherOptions,
  openEmbeddedPostgres,
  startEmbeddedPostgres,
} from '@mediary/embedded-postgres/launcher';
import { findStoredSecret, getStoredSecret } from './platform/settings/generated-secrets.ts';
import { restrictDataFolder, restrictFolders } from './platform/disk/data-folder.ts';
import { migrateAtStart } from './platform/postgres/migrate-at-start.ts';
import { createNotifications, type Notifications } from './platform/postgres/notifications.ts';
import type { Providers } from './providers/provider.ts';
import { openProviders } from './providers/registry.ts';
import { measureObjectStore } from './storage/measured-object-store.ts';
import type { ObjectStore } from './storage/object-store.ts';

export type Adapters = Omit<Decoders, 'close'> & {
  readonly metrics: Metrics;
  readonly db: Database;
  /** The ids of changed assets. */
  readonly notifications: Notifications;
  readonly jobs: JobQueue<JobPayloads>;
  readonly store: ObjectStore;
  readonly requireDatabaseSpace: SpaceGuard;
  readonly callback: Callback;
  readonly providers: Providers;
  readonly urlSecrets: readonly Secret[];
  /** Undefined where access tokens of an identity provider are not accepted. */
  readonly issuerKeys: IssuerKeys | undefined;
  readonly scratchRoot: string;
  /** Identifies this process in the list of encodes: host name and process id. */
  readonly workerName: string;
  /** Locations of the data, for the start message. */
  readonly locations: { readonly database: string; readonly store: string };
  close(): Promise<void>;
};

type OpenOptions = {
  readonly log: Logger;
  /** PATH of the environment, which is searched for ffmpeg. */
  readonly searchPath: string | undefined;
  /** Base URL of the HTTP listener; empty until it listens. */
  readonly ownAddress: () => string;
  readonly onDatabaseExit: (error: Error) => void;
  /** Whether the embedded database of a running service is used, if there is one. */
  readonly sharesDatabase?: boolean;
  readonly inspect?: Inspect;
};

export async function openAdapters(config: Config, options: OpenOptions): Promise<Adapters> {
  await assertFfmpegSetting(config);
  const metrics = createProcessMetrics((error, metric) =>
    options.log.debug({ err: error, metric }, 'a gauge cannot be read'),
  );
  const postgres = await openPostgres(config, {
    shares: options.sharesDatabase,
    onExit: options.onDatabaseExit,
    onCreate: (folder) =>
      options.log.info({ folder }, 'the first start creates the database, which takes some seconds'),
  });
  await restrictAccess(config, { cluster: postgres.cluster, log: options.log });
  const [data, { close: closeDecoders, ...decoders }, storage] = await Promise.all([
    openDatabaseAndJobs(postgres.connection, config, { ...options, metrics }),
    openDecoders(config, options),
    openStore(config),
  ]);
  if (config.s3) warnIfUnavailable(storage, options.log);
  const urlSecrets = await openUrlSecrets(data.db, config.urlSecrets);
  const encoderSecrets = urlSecrets.map((root) => deriveKey(root, 'encoder'));
  return {
    ...data,
    ...decoders,
    metrics,
    encoder: measureEncoder(decoders.encoder, metrics),
    store: measureObjectStore(storage.store, metrics),
    requireDatabaseSpace: databaseSpaceGuard(
      config.databaseUrl === undefined ? postgres.dataFolder : undefined,
      config.minFreeBytes,
    ),
    urlSecrets,
    issuerKeys: await openIssuerKeys(config, options.log),
    callback: openHttpCallback({
      baseUrl: () => config.encoderCallbackUrl ?? (options.ownAddress() || (config.publicBaseUrl as string)),
      signingSecret: encoderSecrets[0] as Secret,
    }),
    providers: openProviders(config.providers, { encoderSecrets, allowUnsigned: config.allowUnsigned }),
    scratchRoot: scratchFolder(config.dataDir),
    workerName: `${hostname()}:${process.pid}`,
    locations: { database: postgres.dataFolder, store: storage.location },
    close: () => closeAdapters({ ...data, closeDecoders, closeStore: storage.close, postgres }),
  };
}

const URL_SECRET = 'url_signing';

/** The current secret first. A stored one stays valid, so that URLs outlive the start with a setting. */
async function openUrlSecrets(
  db: Database,
  { current, previous }: Config['urlSecrets'],
): Promise<readonly Secret[]> {
  const stored = current ? await findStoredSecret(db, URL_SECRET) : await getStoredSecret(db, URL_SECRET);
  const other = stored === undefined ? undefined : toSecret(stored);
  const secrets = current ? [current, previous, other] : [other, previous];
  return secrets.filter((secret) => secret !== undefined);
}

/** Loads the JOSE library only where it is used. */
async function openIssuerKeys({ issuer, role }: Config, log: Logger): Promise<IssuerKeys | undefined> {
  if (!issuer || role === 'worker') return undefined;
  const { openJwksIssuerKeys } = await import('./auth/tokens/jwks-issuer-keys.ts');
  return openJwksIssuerKeys({
    url: issuer.jwksUrl,
    onError: (error) => log.warn({ err: error }, 'the keys of ACCESS_TOKEN_JWKS_URL were not fetched'),
  });
}

type Postgres = {
  readonly connection: Connection;
  /** For the start message. */
  readonly dataFolder: string;
  /** Folder of the embedded server's cluster. */
  readonly cluster?: string;
  /** Stops the embedded server. */
  stop(): Promise<void>;
};

/** Starts the embedded server unless DATABASE_URL is set. */
export async function openPostgres(
  { databaseUrl, dataDir }: Config,
  { shares, ...options }: LauncherOptions & { readonly shares?: boolean | undefined },
): Promise<Postgres> {
  if (databaseUrl === undefined) {
    const postgres = shares
      ? await openEmbeddedPostgres(dataDir)
      : await startEmbeddedPostgres(dataDir, options);
    return { ...postgres, cluster: postgres.dataFolder };
  }
  return { connection: { connectionString: databaseUrl }, dataFolder: 'DATABASE_URL', stop: async () => {} };
}

async function restrictAccess(
  { dataDir }: Config,
  { cluster, log }: { cluster: string | undefined; log: Logger },
): Promise<void> {
  for (const warning of await restrictDataFolder(dataDir, cluster)) log.warn(warning);
  await restrictFolders(dataDir, ['objects', 'scratch']);
}

/** Migrates the schema first, because the pool and the queue use it. */
async function openDatabaseAndJobs(
  connection: Connection,
  config: Config,
  { log, inspect, metrics }: OpenOptions & { readonly metrics: Metrics },
): Promise<Pick<Adapters, 'db' | 'notifications' | 'jobs'>> {
  await migrateAtStart(connection, { ...config.start, log });
  const logWarning = (message: string) => (error: Error) => log.warn({ err: error }, message);
  const db = openDatabase({
    connection,
    onIdleError: logWarning('an idle database connection was lost'),
    inspect,
    metrics,
  });
  const notifications = createNotifications({
    connection,
    channel: ASSET_CHANNEL,
    onError: logWarning('the connection for notifications was lost'),
  });
  const jobs = await openJobs({
    connection,
    settings: jobSettings({
      ...config.importLimits,
      encodeConcurrency: concurrencyOf(config),
      hostedProviders: config.providers
        .filter(({ module }) => module.kind === 'hosted')
        .map(({ module }) => module.name),
    }),
    searchedMember: 'assetId',
    onError: logWarning('job queue error'),
    describePayload: (payload) =>
      'assetId' in payload ? { 'mediary.asset_id': String(payload.assetId) } : {},
  });
  return { db, notifications, jobs };
}

/** The store notifies it of every visible change (lifecycle/store.sql.ts). */
const ASSET_CHANNEL = 'mediary_events';

/** For commands that need no other adapter. */
export const openProvidersOnly = ({ providers, allowUnsigned }: Config): Providers =>
  openProviders(providers, { encoderSecrets: [], allowUnsigned });

/** For commands that need only ffmpeg. */
export const findEngine = findFfmpeg;
export type Engine = Awaited<ReturnType<typeof findEngine>>;

type OpenedAdapters = Pick<Adapters, 'db' | 'notifications' | 'jobs'> & {
  readonly closeDecoders: Decoders['close'];
  readonly postgres: Postgres;
  readonly closeStore: () => void;
};

/** In reverse order of opening; the database server last. */
async function closeAdapters({ closeDecoders, closeStore, ...opened }: OpenedAdapters): Promise<void> {
  const { db, notifications, jobs, postgres } = opened;
  await jobs.stop();
  await notifications.close();
  await closeDecoders();
  closeStore();
  await db.close();
  await postgres.stop();
}
