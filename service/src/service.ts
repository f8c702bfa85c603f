// Starts the service, and stops it gracefully: requests and jobs in progress finish, then the adapters close.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { type App, buildApp } from './app.ts';
import { VERSION } from './app-base.ts';
import type { Config } from './config.ts';
import { readLocalConfig } from './config-local.ts';
import { type Adapters, openAdapters } from './adapters.ts';
import { exitOnFatalError } from './platform/process/fatal-error.ts';
import { closeServer, listen } from './platform/http/listener.ts';
import type { HttpServer } from './platform/http/server.ts';
import { createLogger, isForPeople, type Logger, openLog } from './platform/observability/logger.ts';
import { startTracing } from './platform/observability/tracing.ts';
import type { Inspect } from './platform/postgres/database.ts';
import { type ClockOverrides, openClocks } from './platform/postgres/database-clock.ts';
import { missingProtections } from './platform/process/sandbox.ts';
import { waitAtMost } from './platform/concurrency/in-flight.ts';
import { deleteAbandonedScratchFolders } from './platform/process/scratch-folder.ts';
import type { Environment } from './platform/settings/read-settings.ts';
import { announceStart } from './start-banner.ts';
import { openBackupTarget } from './adapters-store.ts';
import { startBackups } from './commands/backup/scheduled-backups.ts';

export type RunningService = {
  readonly address: string;
  /** The URL of the health checks of a worker with HEALTH_PORT. */
  readonly healthAddress: string | undefined;
  readonly adapters: Adapters;
  /** A worker has none, and its address is empty. */
  readonly server: HttpServer | undefined;
  /** A link to the console that works once. */
  readonly createSignInLink: App['createSignInLink'];
  stop(): Promise<void>;
  /** Closes every connection at once, then the adapters. */
  abort(): Promise<void>;
};

/** Replacements and hooks for tests. */
export type TestOverrides = ClockOverrides & {
  readonly inspect?: Inspect;
  readonly log?: Logger;
  readonly onDatabaseExit?: (error: Error) => void;
  /** Interval of the timeout checks of connections; default 1 s. */
  readonly checkEveryMs?: number;
  /** A built site of documents. */
  readonly guidesFolder?: string;
  /** Wraps the adapters, to count calls or make them fail. */
  readonly wrapAdapters?: (adapters: Adapters) => Adapters;
};

/** Runs until SIGTERM or SIGINT. A signal during the start stops the service after the start. */
export async function runService(environment: Environment): Promise<void> {
  const stopping = listenForStopSignals();
  const { config, local } = await readLocalConfig(environment);
  const instance = randomUUID();
  const identity = identify(instance, config.role);
  const log = openLog(config.log, identity);
  for (const warning of [...config.warnings, ...(local?.warnings ?? [])]) log.warn(warning);
  const stopTracing = await startTracing({
    settings: config.tracing,
    identity,
    onError: (error) => log.warn({ err: error }, 'traces were not exported'),
  });
  let running: RunningService | undefined;
  exitOnFatalError(log, async () => running?.abort());
  const onDatabaseExit = (error: Error) => {
    if (!stopping.signal.aborted) exitAfterDatabase(log, error);
  };
  const options = { searchPath: environment['PATH'], instance };
  const service = await startService(config, options, { log, onDatabaseExit });
  running = service;
  const hasReader = isForPeople(config.log.format);
  const hasLink = local && service.server && config.console === 'on' && hasReader;
  const start = {
    config,
    local,
    consoleUrl: hasLink ? (await service.createSignInLink()).url : undefined,
    address: service.address,
    healthAddress: service.healthAddress,
    locations: service.adapters.locations,
    encoderMissing: service.adapters.encoderMissing,
    now: new Date(),
    sandboxMissing: missingProtections(service.adapters.sandbox),
  };
  announceStart(log, start, hasReader);
  if (!stopping.signal.aborted) await once(stopping.signal, 'abort');
  await service.stop();
  await stopTracing();
  log.info('stopped');
  process.exit(0);
}

const identify = (instance: string, role: string) => ({ instance, host: hostname(), role, version: VERSION });

/** LOG_LEVEL does not suppress it. Other invalid settings may be the reason, so none is needed. */
export function logFailedStart(environment: Environment, error: unknown): void {
  const format = environment['LOG_FORMAT'] === 'pretty' ? 'pretty' : 'json';
  const identity = identify(randomUUID(), environment['MEDIARY_ROLE'] || 'all');
  openLog({ level: 'fatal', format }, identity).fatal({ err: error }, 'the service cannot start');
}

/** The first signal aborts the controller; a second one exits at once. */
function listenForStopSignals(): AbortController {
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping.signal.aborted) process.exit(1);
      stopping.abort();
    });
  }
  return stopping;
}

type StartOptions = { readonly searchPath: string | undefined; readonly instance?: string };

export async function startService(
  config: Config,
  { searchPath, instance = randomUUID() }: StartOptions,
  overrides: TestOverrides = {},
): Promise<RunningService> {
  const log = overrides.log ?? createLogger(config.log.level);
  let address = '';
  const opened = await openAdapters(config, {
    log,
    searchPath,
    ownAddress: () => address,
    ...hooksOf(overrides),
  });
  const adapters = overrides.wrapAdapters?.(opened) ?? opened;
  const stopping = new AbortController();
  try {
    const app = await buildApp({
      adapters,
      config,
      instance,
      publicBaseUrl: () => config.publicBaseUrl ?? `http://127.0.0.1:${new URL(address).port}`,
      log,
      clocks: openClocks(adapters.db, overrides),
      isStopping: () => stopping.signal.aborted,
      ...serverOptionsOf(overrides),
    });
    const { server, healthServer } = app;
    await server?.ready();
    // API processes make copies too, of the images whose variants they render.
    await deleteAbandonedScratchFolders(adapters.scratchRoot);
    if (server) address = await listen(server, config);
    const stopBackground = await startBackground(adapters, app, { config, log });
    return {
      address,
      healthAddress: healthServer && (await listenForChecks(healthServer, config)),
      adapters,
      server,
      createSignInLink: app.createSignInLink,
      stop: async () => {
        stopping.abort();
        await stopBackground();
        await stopGracefully(app, adapters, config);
      },
      abort: () => abortService(server, adapters),
    };
  } catch (error) {
    await adapters.close();
    throw error;
  }
}

const hooksOf = ({ onDatabaseExit = () => {}, inspect }: TestOverrides) => ({
  onDatabaseExit,
  ...(inspect && { inspect }),
});

const serverOptionsOf = ({ checkEveryMs, guidesFolder }: TestOverrides) => ({ checkEveryMs, guidesFolder });

const listenForChecks = (server: HttpServer, config: Config): Promise<string> =>
  listen(server, { ...config, port: config.healthPort ?? 0 });

/** Returns what stops it. A worker knows neither the URLs nor the secrets that outbound webhooks need. */
async function startBackground(
  adapters: Adapters,
  app: App,
  { config, log }: { readonly config: Config; readonly log: Logger },
) {
  const { jobs, embeddedPostgres: server } = adapters;
  const { role } = config;
  if (role !== 'api') await jobs.work(app.handlers, app.work);
  const heartbeat = await app.startHeartbeat();
  const sender = role === 'worker' ? undefined : app.startDeliverySender();
  const sampler = app.startSampler();
  const backups = server && (await startOwnBackups(adapters, { server, config, log }));
  return () => Promise.all([heartbeat.stop(), sender?.stop(), sampler.stop(), backups?.stop()]);
}

type BackupSettings = {
  readonly server: NonNullable<Adapters['embeddedPostgres']>;
  readonly config: Config;
  readonly log: Logger;
};

/** Of the embedded database. */
async function startOwnBackups({ store, metrics }: Adapters, { server, config, log }: BackupSettings) {
  const { dataDir, minFreeBytes, backup: settings } = config;
  const target = settings.place === undefined ? undefined : await openBackupTarget(config, settings.place);
  const now = () => new Date();
  return startBackups({ store, metrics, server, dataDir, minFreeBytes, settings, target, log, now });
}

/** Time in which a load balancer uses its idle connections once more, and so learns that they close. */
const IDLE_CONNECTIONS_MS = 2000;
/** Time for closed uploads to release their leases, so that clients can upload again after the restart. */
const RELEASE_TIMEOUT_MS = 2000;

/**
 * Waits for requests in progress, returns running jobs to the queue, then closes the adapters. The health
 * checks report until then that the process stops.
 */
async function stopGracefully(
  { server, healthServer, endStreams, uploadsSettled }: App,
  adapters: Adapters,
  { drainSeconds, stopTimeoutSeconds }: Config,
): Promise<void> {
  if (server) await delay(drainSeconds * 1000);
  endStreams();
  if (server) {
    await closeServer(server.server, {
      idleMs: drainSeconds > 0 ? IDLE_CONNECTIONS_MS : 0,
      requestsMs: stopTimeoutSeconds * 1000,
    });
    await server.close();
  }
  await waitAtMost(RELEASE_TIMEOUT_MS, uploadsSettled());
  await adapters.close();
  healthServer?.server.closeAllConnections();
  await healthServer?.close();
}

/** After a fatal error requests in progress are not completed. */
async function abortService(api: HttpServer | undefined, adapters: Adapters): Promise<void> {
  api?.server.close().closeAllConnections();
  await adapters.close();
}

/** The supervisor restarts the process, which starts the database again. */
function exitAfterDatabase(log: Logger, error: Error): void {
  log.fatal({ err: error }, 'the embedded database ended');
  process.exit(1);
}
