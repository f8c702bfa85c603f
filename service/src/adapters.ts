// Opens the adapters of all ports, embedded or external, by the settings. The only importer of adapters.
import { hostname } from 'node:os';
import type { IssuerKeys } from './auth/tokens/issuer-keys.ts';
import { toSecret, type Secret } from './auth/secret.ts';
import { deriveKey } from './auth/signed-token.ts';
import {
  type OpenedDatabase,
  openDatabaseAndJobs,
  openPostgres,
  type Postgres,
} from './adapters-database.ts';
import { openStore, warnIfUnavailable } from './adapters-store.ts';
import type { Config } from './config.ts';
import type { Callback } from './encoding/encoder-report.ts';
import { findFfmpeg } from './encoding/ffmpeg/process/find-ffmpeg.ts';
import { openHttpCallback } from './encoding/http-callback.ts';
import { measureEncoder } from './encoding/measured-encoder.ts';
import type { JobPayloads } from './jobs.ts';
import { type Decoders, findConfiguredFfmpeg, openDecoders, scratchFolder } from './open-decoders.ts';
import type { EmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { databaseSpaceGuard, type SpaceGuard } from './platform/disk/free-space.ts';
import type { JobQueue } from './platform/jobs/job-queue.ts';
import type { Logger } from './platform/observability/logger.ts';
import { createProcessMetrics, type Metrics } from './platform/observability/metrics.ts';
import type { Database, Inspect } from './platform/postgres/database.ts';
import { findStoredSecret, getStoredSecret } from './platform/settings/generated-secrets.ts';
import { restrictDataFolder, restrictFolders } from './platform/disk/data-folder.ts';
import type { Notifications } from './platform/postgres/notifications.ts';
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
  /** The database server of DATA_DIR. */
  readonly embeddedPostgres: EmbeddedPostgres | undefined;
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
  const ffmpeg = await findConfiguredFfmpeg(config, options.searchPath);
  const metrics = createProcessMetrics((error, metric) =>
    options.log.debug({ err: error, metric }, 'a gauge cannot be read'),
  );
  const postgres = await openPostgres(config, {
    shares: options.sharesDatabase,
    onExit: options.onDatabaseExit,
    onCreate: (folder) =>
      options.log.info({ folder }, 'the first start creates the database, which takes some seconds'),
  });
  await restrictAccess(config, { cluster: postgres.embedded?.dataFolder, log: options.log });
  const [{ channels, ...data }, { close: closeDecoders, ...decoders }, storage] = await Promise.all([
    openDatabaseAndJobs(postgres.connection, config, { ...options, metrics }),
    openDecoders(config, { log: options.log, ffmpeg }),
    openStore(config),
  ]);
  if (config.s3) warnIfUnavailable(storage, options.log);
  const urlSecrets = await openUrlSecrets(data.db, config.urlSecrets);
  const encoderSecrets = urlSecrets.map((root) => deriveKey(root, 'encoder'));
  return {
    ...data,
    ...decoders,
    metrics,
    embeddedPostgres: postgres.embedded,
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
    close: () => closeAdapters({ ...data, channels, closeDecoders, closeStore: storage.close, postgres }),
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

async function restrictAccess(
  { dataDir }: Config,
  { cluster, log }: { cluster: string | undefined; log: Logger },
): Promise<void> {
  for (const warning of await restrictDataFolder(dataDir, cluster)) log.warn(warning);
  await restrictFolders(dataDir, ['objects', 'scratch']);
}

/** For commands that need no other adapter. */
export const openProvidersOnly = ({ providers, allowUnsigned }: Config): Providers =>
  openProviders(providers, { encoderSecrets: [], allowUnsigned });

/** For commands that need only ffmpeg. */
export const findEngine = findFfmpeg;
export type Engine = Awaited<ReturnType<typeof findEngine>>;

type OpenedAdapters = OpenedDatabase & {
  readonly closeDecoders: Decoders['close'];
  readonly postgres: Postgres;
  readonly closeStore: () => void;
};

/** In reverse order of opening; the database server last. */
async function closeAdapters({ closeDecoders, closeStore, ...opened }: OpenedAdapters): Promise<void> {
  const { db, channels, jobs, postgres } = opened;
  await jobs.stop();
  await channels.close();
  await closeDecoders();
  closeStore();
  await db.close();
  await postgres.stop();
}
