// Chooses and opens the parts: embedded or production, and who takes each part's place; the only importer of adapters.
import { mkdir } from 'node:fs/promises';
import { availableParallelism, hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { secret, type Secret } from './auth/secret.ts';
import { deriveKey } from './auth/signed-token.ts';
import type { Config } from './config.ts';
import type { Callback } from './encoding/callback.ts';
import { EncodeFailed, type Encoder } from './encoding/encoder.ts';
import { openFfmpegEncoder } from './encoding/ffmpeg-encoder.ts';
import { findFfmpeg } from './encoding/ffmpeg-engine.ts';
import { openHttpCallback } from './encoding/http-callback.ts';
import type { ImageProcessor } from './images/image-processor.ts';
import { openSharpImageProcessor } from './images/sharp-image-processor.ts';
import { type JobPayloads, jobSettings } from './job-list.ts';
import { openMediabunnyProbe } from './media/mediabunny-probe.ts';
import type { Probe } from './media/probe.ts';
import { databaseSpaceGuard, type SpaceGuard } from './platform/free-space.ts';
import { type JobQueue, openJobs } from './platform/jobs.ts';
import type { Logger } from './platform/logger.ts';
import { type Connection, type Database, type Inspect, openDatabase } from './platform/postgres/database.ts';
import { startEmbeddedPostgres } from './platform/postgres/embedded-postgres.ts';
import { detectSandbox } from './platform/process/detect-sandbox.ts';
import { missingProtections, type Sandbox } from './platform/process/sandbox.ts';
import { keptSecret } from './platform/postgres/kept-secret.ts';
import { closeDataFolder, closeFolders } from './platform/private-folder.ts';
import { migrate } from './platform/postgres/migrate.ts';
import { openProviders, type Providers } from './providers/registry.ts';
import { openDiskObjectStore } from './storage/disk-object-store.ts';
import type { ObjectStore } from './storage/object-store.ts';

export type Parts = {
  readonly db: Database;
  readonly jobs: JobQueue<JobPayloads>;
  readonly store: ObjectStore;
  readonly requireDatabaseSpace: SpaceGuard;
  readonly probe: Probe;
  readonly encoder: Encoder;
  /** Why videos cannot be encoded here, in words for the operator; undefined where they can. */
  readonly encoderMissing: string | undefined;
  readonly callback: Callback;
  readonly imageProcessor: ImageProcessor;
  /** What keeps decoders of untrusted bytes away from the service. */
  readonly sandbox: Sandbox;
  readonly providers: Providers;
  readonly urlSecrets: readonly Secret[];
  readonly scratchRoot: string;
  /** Names this process among those that encode. */
  readonly workerName: string;
  /** Where things lie, for the start-up lines. */
  readonly places: { readonly database: string; readonly store: string };
  close(): Promise<void>;
};

export type Surroundings = {
  readonly log: Logger;
  /** The environment's PATH, on which the video engine is looked for. */
  readonly searchPath: string | undefined;
  /** The listener's own address, once it is known. */
  readonly ownAddress: () => string;
  readonly onDatabaseExit: (error: Error) => void;
  readonly inspect?: Inspect;
};

export async function openParts(config: Config, around: Surroundings): Promise<Parts> {
  const postgres = await openPostgres(config, around.onDatabaseExit);
  const { connection } = postgres;
  await closeFolderToOthers(config, { cluster: postgres.cluster, log: around.log });
  const [db, { sandbox, ...engine }, storage] = await Promise.all([
    openData(connection, config, around),
    openDecoders(config, around),
    openStore(config),
  ]);
  const urlSecrets =
    config.urlSecrets.length > 0 ? config.urlSecrets : [secret(await keptSecret(connection, 'url_signing'))];
  const encoderSecrets = urlSecrets.map((root) => deriveKey(root, 'encoder'));
  const probe = openMediabunnyProbe({
    sandbox,
    deadlineMs: config.probeDeadlineMs,
    perOwner: config.probesPerOwner,
    waitMs: config.probeWaitMs,
  });
  const imageProcessor = openSharpImageProcessor({ sandbox, maxPixels: config.maxImagePixels });
  return {
    ...db,
    ...engine,
    store: storage.store,
    requireDatabaseSpace: databaseSpaceGuard(
      config.databaseUrl === undefined ? postgres.dataFolder : undefined,
      config.minFreeBytes,
    ),
    probe,
    urlSecrets,
    callback: openHttpCallback({
      baseUrl: () => config.encoderCallbackUrl ?? (around.ownAddress() || (config.publicBaseUrl as string)),
      signingSecret: encoderSecrets[0] as Secret,
    }),
    imageProcessor,
    sandbox,
    providers: openProviders(config.providers, { encoderSecrets, allowUnsigned: config.allowUnsigned }),
    scratchRoot: join(config.dataDir, 'scratch'),
    workerName: `${hostname()}:${process.pid}`,
    places: { database: postgres.dataFolder, store: storage.place },
    close: () => close({ ...db, probe, imageProcessor, postgres }),
  };
}

/** Where the database is, and how it is let go. */
export type Postgres = {
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
  { log, inspect }: Surroundings,
): Promise<Pick<Parts, 'db' | 'jobs'>> {
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

/** The engine first: the sandbox must let it run. */
async function openDecoders(
  config: Config,
  { log, searchPath }: Surroundings,
): Promise<Pick<Parts, 'encoder' | 'encoderMissing' | 'sandbox'>> {
  const engine = await findEngine({ setting: config.ffmpegPath, searchPath });
  const sandbox = await openSandbox(config, 'path' in engine ? [engine.path] : []);
  const missing = missingProtections(sandbox);
  if (missing.length > 0)
    log.warn({ missing }, 'decoders of untrusted files run without a part of their sandbox');
  if ('missing' in engine)
    return { encoder: refusingEncoder(engine.missing), encoderMissing: engine.missing, sandbox };
  const encoder = openFfmpegEncoder({
    ffmpegPath: engine.path,
    sandbox,
    memoryBytes: config.encoderMemoryBytes,
    limits: config.encodeLimits,
    concurrency: concurrencyOf(config),
  });
  return { encoder, encoderMissing: undefined, sandbox };
}

async function openSandbox(config: Config, programs: readonly string[]): Promise<Sandbox> {
  const hidden = [config.dataDir, storeFolder(config)];
  await Promise.all(hidden.map((folder) => mkdir(folder, { recursive: true, mode: 0o700 })));
  const sandbox = await detectSandbox({
    hidden,
    readable: [process.execPath, import.meta.filename, ...programs],
    user: { uid: config.sandboxUid, gid: config.sandboxUid },
  });
  const missing = missingProtections(sandbox);
  if (config.sandbox === 'required' && missing.length > 0)
    throw new Error(
      `SANDBOX is "required", but this system lacks: ${missing.join(', ')}. Allow it, or set SANDBOX=available.`,
    );
  return sandbox;
}

/** One encode keeps four cores busy. */
const CORES_PER_ENCODE = 4;

const concurrencyOf = ({ encodeConcurrency }: Config): number =>
  encodeConcurrency ?? Math.max(1, Math.floor(availableParallelism() / CORES_PER_ENCODE));

/** Without an engine each video fails with that reason, rather than waiting for nobody. */
function refusingEncoder(reason: string): Encoder {
  const refuse = async () => {
    throw new EncodeFailed(
      'encoder_missing',
      'No video engine is installed where videos are encoded',
      reason,
    );
  };
  return { encode: refuse, makePoster: refuse };
}

const storeFolder = ({ storageUrl, dataDir }: Config): string =>
  storageUrl === undefined ? join(dataDir, 'objects') : fileURLToPath(storageUrl);

async function openStore(config: Config): Promise<{ store: ObjectStore; place: string }> {
  const place = storeFolder(config);
  const store = await openDiskObjectStore(place, { minFreeBytes: config.minFreeBytes });
  await closeFolders(place, ['objects', 'incoming']);
  return { store, place };
}

type Closing = Pick<Parts, 'db' | 'jobs' | 'probe' | 'imageProcessor'> & { readonly postgres: Postgres };

/** Last opened, first closed; the database goes last. */
async function close({ db, jobs, probe, imageProcessor, postgres }: Closing): Promise<void> {
  await jobs.stop();
  await Promise.all([probe.close(), imageProcessor.close()]);
  await db.close();
  await postgres.stop();
}
