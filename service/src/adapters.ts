// Chooses and opens the parts: embedded or production, and who takes each part's place; the only importer of adapters.
import { hostname } from 'node:os';
import { join } from 'node:path';
import { toSecret, type Secret } from './auth/secret.ts';
import { deriveKey } from './auth/signed-token.ts';
import type { Config } from './config.ts';
import type { Callback } from './encoding/encoder-report.ts';
import { findFfmpeg } from './encoding/ffmpeg/find-ffmpeg.ts';
import { openHttpCallback } from './encoding/http-callback.ts';
import { type JobPayloads, jobSettings } from './jobs.ts';
import {
  assertFfmpegSetting,
  concurrencyOf,
  type Decoders,
  openDecoders,
  storeFolder,
} from './open-decoders.ts';
import { databaseSpaceGuard, type SpaceGuard } from './platform/free-space.ts';
import { type JobQueue, openJobs } from './platform/job-queue.ts';
import type { Logger } from './platform/logger.ts';
import { type Connection, type Database, type Inspect, openDatabase } from './platform/postgres/database.ts';
import { startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { getStoredSecret } from './platform/postgres/stored-secret.ts';
import { closeDataFolder, closeFolders } from './platform/private-folder.ts';
import { migrate } from './platform/postgres/migrate.ts';
import type { Providers } from './providers/provider.ts';
import { openProviders } from './providers/registry.ts';
import { openDiskObjectStore } from './storage/disk-object-store.ts';
import type { ObjectStore } from './storage/object-store.ts';

export type Adapters = Omit<Decoders, 'close'> & {
  readonly db: Database;
  readonly jobs: JobQueue<JobPayloads>;
  readonly store: ObjectStore;
  readonly requireDatabaseSpace: SpaceGuard;
  readonly callback: Callback;
  readonly providers: Providers;
  readonly urlSecrets: readonly Secret[];
  readonly scratchRoot: string;
  /** Names this process among those that encode. */
  readonly workerName: string;
  /** Where things lie, for the start-up lines. */
  readonly places: { readonly database: string; readonly store: string };
  close(): Promise<void>;
};

type OpenOptions = {
  readonly log: Logger;
  /** The environment's PATH, on which the video engine is looked for. */
  readonly searchPath: string | undefined;
  /** The listener's own address, once it is known. */
  readonly ownAddress: () => string;
  readonly onDatabaseExit: (error: Error) => void;
  readonly inspect?: Inspect;
};

export async function openAdapters(config: Config, around: OpenOptions): Promise<Adapters> {
  await assertFfmpegSetting(config);
  const postgres = await openPostgres(config, around.onDatabaseExit);
  const { connection } = postgres;
  await closeFolderToOthers(config, { cluster: postgres.cluster, log: around.log });
  const [db, { close: closeDecoders, ...decoders }, storage] = await Promise.all([
    openData(connection, config, around),
    openDecoders(config, around),
    openStore(config),
  ]);
  const urlSecrets =
    config.urlSecrets.length > 0
      ? config.urlSecrets
      : [toSecret(await getStoredSecret(connection, 'url_signing'))];
  const encoderSecrets = urlSecrets.map((root) => deriveKey(root, 'encoder'));
  return {
    ...db,
    ...decoders,
    store: storage.store,
    requireDatabaseSpace: databaseSpaceGuard(
      config.databaseUrl === undefined ? postgres.dataFolder : undefined,
      config.minFreeBytes,
    ),
    urlSecrets,
    callback: openHttpCallback({
      baseUrl: () => config.encoderCallbackUrl ?? (around.ownAddress() || (config.publicBaseUrl as string)),
      signingSecret: encoderSecrets[0] as Secret,
    }),
    providers: openProviders(config.providers, { encoderSecrets, allowUnsigned: config.allowUnsigned }),
    scratchRoot: join(config.dataDir, 'scratch'),
    workerName: `${hostname()}:${process.pid}`,
    places: { database: postgres.dataFolder, store: storage.place },
    close: () => close({ ...db, closeDecoders, postgres }),
  };
}

/** Where the database is, and how it is let go. */
type Postgres = {
  readonly connection: Connection;
  readonly dataFolder: string;
  /** The folder of a server of our own. */
  readonly cluster?: string;
  stop(): Promise<void>;
};

/** The server that the settings name, else one of our own. */
export async function openPostgres(
  { databaseUrl, dataDir }: Config,
  onExit: (error: Error) => void,
): Promise<Postgres> {
  if (databaseUrl === undefined) {
    const postgres = await startEmbeddedPostgres(dataDir, { onExit });
    return { ...postgres, cluster: postgres.dataFolder };
  }
  return { connection: { connectionString: databaseUrl }, dataFolder: 'DATABASE_URL', stop: async () => {} };
}

async function closeFolderToOthers(
  { dataDir }: Config,
  { cluster, log }: { cluster: string | undefined; log: Logger },
): Promise<void> {
  for (const warning of await closeDataFolder(dataDir, cluster)) log.warn(warning);
  await closeFolders(dataDir, ['objects', 'scratch']);
}

/** The schema first, then pool and queue, side by side. */
async function openData(
  connection: Connection,
  config: Config,
  { log, inspect }: OpenOptions,
): Promise<Pick<Adapters, 'db' | 'jobs'>> {
  const applied = await migrate(connection);
  if (applied.length > 0) log.info({ applied }, 'database migrated');
  const onError = (message: string) => (error: Error) => log.warn({ err: error }, message);
  const db = openDatabase({
    connection,
    onIdleError: onError('an idle database connection broke'),
    inspect,
    session: sessionOf(config.ownerLimits),
  });
  const jobs = await openJobs({
    connection,
    settings: jobSettings({ encodeConcurrency: concurrencyOf(config) }),
    onError: onError('the job queue has trouble'),
  });
  return { db, jobs };
}

/** The triggers that enforce quotas read these. */
const sessionOf = (limits: Config['ownerLimits']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(limits).flatMap(([field, limit]) =>
      limit === undefined ? [] : [[`mediary.owner_max_${field}`, String(limit)]],
    ),
  );

/** The providers, for commands that need no other part. */
export const providersAlone = ({ providers, allowUnsigned }: Config): Providers =>
  openProviders(providers, { encoderSecrets: [], allowUnsigned });

/** The video engine, for commands that need no other part. */
export const findEngine = findFfmpeg;
export type Engine = Awaited<ReturnType<typeof findEngine>>;

async function openStore(config: Config): Promise<{ store: ObjectStore; place: string }> {
  const place = storeFolder(config);
  const store = await openDiskObjectStore(place, { minFreeBytes: config.minFreeBytes });
  await closeFolders(place, ['objects', 'incoming']);
  return { store, place };
}

type Closing = Pick<Adapters, 'db' | 'jobs'> & {
  readonly closeDecoders: Decoders['close'];
  readonly postgres: Postgres;
};

/** Last opened, first closed; the database goes last. */
async function close({ db, jobs, closeDecoders, postgres }: Closing): Promise<void> {
  await jobs.stop();
  await closeDecoders();
  await db.close();
  await postgres.stop();
}
