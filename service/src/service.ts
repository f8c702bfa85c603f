// Starts the service and stops it in order: first no new work, then what is in flight, then the parts.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { type App, buildApp } from './app.ts';
import { type Config, readConfig } from './config.ts';
import { OWN_SECRETS } from './config-secrets.ts';
import { openAdapters, openPostgres, type Adapters, providersAlone } from './adapters.ts';
import { exitOnFatalError } from './platform/process/fatal-error.ts';
import type { HttpServer } from './platform/http/server.ts';
import { type LocalSecrets, openLocalSecrets } from './platform/local-secrets.ts';
import { createLogger, type Logger } from './platform/logger.ts';
import type { Connection, Inspect } from './platform/postgres/database.ts';
import { migrate } from './platform/postgres/migrate.ts';
import { missingProtections } from './platform/process/sandbox.ts';
import { waitAtMost } from './platform/concurrency/wait-at-most.ts';
import { deleteAbandonedScratchFolders } from './platform/process/scratch-folder.ts';
import type { Environment } from './platform/settings.ts';
import { assertWritableFolder } from './platform/writable-folder.ts';
import { renderBanner } from './start-banner.ts';

export type RunningService = {
  readonly address: string;
  readonly parts: Adapters;
  readonly server: HttpServer;
  stop(): Promise<void>;
  /** Cuts every connection, then closes the parts. */
  abort(): Promise<void>;
};

/** What tests set and the process leaves alone. */
export type TestOverrides = {
  readonly now?: () => Date;
  readonly inspect?: Inspect;
  readonly log?: Logger;
  readonly onDatabaseExit?: (error: Error) => void;
  /** How often connections are checked against their timeouts. */
  readonly checkEveryMs?: number;
  /** Comes between the service and its parts, to count calls and let some fail. */
  readonly between?: (parts: Adapters) => Adapters;
};

/** Runs until SIGTERM or SIGINT; one that comes during the start is obeyed after it. */
export async function runService(environment: Environment): Promise<void> {
  const stopping = stopSignal();
  const { settings, local } = await withLocalSecrets(environment);
  const config = readConfig(settings, (path) => resolve(path));
  const log = createLogger(config.logLevel);
  for (const warning of [...config.warnings, ...(local?.warnings ?? [])]) log.warn(warning);
  let running: RunningService | undefined;
  exitOnFatalError(log, async () => running?.abort());
  const onDatabaseExit = (error: Error) => {
    if (!stopping.signal.aborted) die(log, error);
  };
  const service = await startService(config, { searchPath: environment['PATH'] }, { log, onDatabaseExit });
  running = service;
  process.stdout.write(
    renderBanner({
      config,
      local,
      address: service.address,
      places: service.parts.places,
      encoderMissing: service.parts.encoderMissing,
      now: new Date(),
      sandboxMissing: missingProtections(service.parts.sandbox),
    }),
  );
  if (!stopping.signal.aborted) await once(stopping.signal, 'abort');
  await service.stop();
  process.exit(0);
}

/** Lends the migrated database of these settings to a command. */
export async function withDatabase(
  environment: Environment,
  work: (connection: Connection) => Promise<void>,
): Promise<void> {
  const { settings } = await withLocalSecrets(environment);
  const postgres = await openPostgres(
    readConfig(settings, (path) => resolve(path)),
    (error) => {
      throw error;
    },
  );
  try {
    await migrate(postgres.connection);
    await work(postgres.connection);
  } finally {
    await postgres.stop();
  }
}

/** Lends the providers of these settings to a command. */
export async function withProviders(
  environment: Environment,
  work: (config: Config, providers: Adapters['providers']) => Promise<void>,
): Promise<void> {
  const { settings } = await withLocalSecrets(environment);
  const config = readConfig(settings, (path) => resolve(path));
  await work(config, providersAlone(config));
}

/** Aborted by the first signal; a second one ends the process at once. */
function stopSignal(): AbortController {
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping.signal.aborted) process.exit(1);
      stopping.abort();
    });
  }
  return stopping;
}

/** On a laptop, that is with the embedded database, secrets that are not set are made once and kept. */
async function withLocalSecrets(
  environment: Environment,
): Promise<{ settings: Environment; local: LocalSecrets | undefined }> {
  await assertWritableFolder('DATA_DIR', resolve(environment['DATA_DIR'] || '.mediary'));
  if (environment['DATABASE_URL']) return { settings: environment, local: undefined };
  const local = await openLocalSecrets(resolve(environment['DATA_DIR'] ?? '.mediary'), OWN_SECRETS);
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value));
  return { settings: { ...local.values, ...given }, local };
}

export async function startService(
  config: Config,
  { searchPath }: { searchPath: string | undefined },
  extras: TestOverrides = {},
): Promise<RunningService> {
  const log = extras.log ?? createLogger(config.logLevel);
  let address = '';
  const opened = await openAdapters(config, {
    log,
    searchPath,
    ownAddress: () => address,
    onDatabaseExit: extras.onDatabaseExit ?? (() => {}),
    ...(extras.inspect && { inspect: extras.inspect }),
  });
  const parts = extras.between?.(opened) ?? opened;
  try {
    const publicBaseUrl = () => config.publicBaseUrl ?? `http://127.0.0.1:${new URL(address).port}`;
    const app = await buildApp(parts, {
      config,
      publicBaseUrl,
      log,
      now: extras.now ?? (() => new Date()),
      checkEveryMs: extras.checkEveryMs,
    });
    const { server, handlers } = app;
    await server.ready();
    if (config.role !== 'worker') address = await listen(server, config);
    if (config.role !== 'api') await work(parts, handlers);
    return {
      address,
      parts,
      server,
      stop: () => stop(app, parts),
      abort: () => abort(server, parts),
    };
  } catch (error) {
    await parts.close();
    throw error;
  }
}

/** A listener on every address is reached by its loopback. */
const ANYWHERE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Answers the address by which this process reaches itself. */
async function listen(server: HttpServer, { port, host }: Config): Promise<string> {
  await server.listen({ port, host });
  const { address, port: bound } = server.server.address() as AddressInfo;
  const own = ANYWHERE[address] ?? address;
  return `http://${own.includes(':') ? `[${own}]` : own}:${bound}`;
}

async function work({ jobs, scratchRoot }: Adapters, handlers: App['handlers']): Promise<void> {
  await deleteAbandonedScratchFolders(scratchRoot);
  await jobs.work(handlers);
}

/** Longer than any answer takes; whoever still sends or takes bytes then may do so for hours. */
const PATIENCE_MS = 5000;
/** For uploads that were cut off to release their leases. */
const RELEASE_MS = 2000;

/** No new requests, those in flight end in time or are cut off; then jobs are handed back and the parts closed. */
async function stop({ server, uploadsSettled }: App, parts: Adapters): Promise<void> {
  const impatience = setTimeout(() => server.server.closeAllConnections(), PATIENCE_MS);
  await server.close().finally(() => clearTimeout(impatience));
  // An upload that was cut off releases its lease, so that it can begin again after the next start.
  await waitAtMost(RELEASE_MS, uploadsSettled());
  await parts.close();
}

/** After a fatal error nobody is served to the end. */
async function abort(server: HttpServer, parts: Adapters): Promise<void> {
  server.server.closeAllConnections();
  server.server.close();
  await parts.close();
}

/** Without its database the service is of no use: whoever started it starts it again. */
function die(log: Logger, error: Error): void {
  log.fatal({ err: error }, 'the embedded database ended');
  process.exit(1);
}
