// What commands open and close: the database, the store, the providers, or all operations of the service.
// Most need little of it: the modules that take long to load are loaded where they are used.
import { randomUUID } from 'node:crypto';
import type { Adapters } from './adapters.ts';
import type { openUnmigrated } from './adapters-database.ts';
import type { OpenStore } from './adapters-store.ts';
import type { App } from './app.ts';
import type { Config } from './config.ts';
import { readDatabaseConfig, readLocalConfig } from './config-local.ts';
import { createLogger } from './platform/observability/logger.ts';
import type { Connection } from './platform/postgres/connection.ts';
import { openClocks } from './platform/postgres/database-clock.ts';
import { migrate } from './platform/postgres/migrate.ts';
import type { Environment } from './platform/settings/read-settings.ts';

async function openDatabaseAsItIs(...args: Parameters<typeof openUnmigrated>) {
  const { openUnmigrated: open } = await import('./adapters-database.ts');
  return open(...args);
}

/** Runs a command with the migrated database of these settings. */
export async function withDatabase(
  environment: Environment,
  work: (connection: Connection) => Promise<void>,
): Promise<void> {
  const { config } = await readLocalConfig(environment);
  const { connection, close } = await openDatabaseAsItIs(config);
  await migrate(connection)
    .then(() => work(connection))
    .finally(close);
}

/** The database as it is, and how long to wait for it. */
type UnmigratedDatabase = Omit<Awaited<ReturnType<typeof openUnmigrated>>, 'close'> & {
  readonly timeoutSeconds: number;
};

/** Runs a command before the migrations. `shares`: also beside a running service. */
export async function withUnmigrated<T>(
  environment: Environment,
  options: { readonly shares: boolean },
  work: (database: UnmigratedDatabase) => Promise<T>,
): Promise<T> {
  const config = await readDatabaseConfig(environment);
  const { close, ...database } = await openDatabaseAsItIs(config, options);
  return work({ ...database, timeoutSeconds: config.start.timeoutSeconds }).finally(close);
}

/** Runs a command with the database of the running service. */
export async function withRunningDatabase(
  environment: Environment,
  work: (connection: Connection) => Promise<void>,
): Promise<void> {
  const { config } = await readLocalConfig(environment);
  const database = await openDatabaseAsItIs(config, { shares: true });
  await work(database.connection).finally(database.close);
}

/** Runs a command with the object store of these settings. */
export async function withStorage(
  environment: Environment,
  work: (config: Config, storage: OpenStore) => Promise<void>,
): Promise<void> {
  const { config } = await readLocalConfig(environment);
  const { openStore } = await import('./adapters-store.ts');
  const storage = await openStore(config);
  await work(config, storage).finally(storage.close);
}

/** Runs a command with the providers of these settings. */
export async function withProviders(
  environment: Environment,
  work: (config: Config, providers: Adapters['providers']) => Promise<void>,
): Promise<void> {
  const { config } = await readLocalConfig(environment);
  const { openProvidersOnly } = await import('./adapters.ts');
  await work(config, openProvidersOnly(config));
}

/** Runs a command with the operations of these settings, beside a running service or without one. */
export async function withApp(environment: Environment, work: (app: App) => Promise<void>): Promise<void> {
  const { config: read } = await readLocalConfig(environment);
  // A worker without health checks serves nothing.
  const config: Config = { ...read, role: 'worker', healthPort: undefined };
  const log = createLogger('error', process.stderr);
  const onDatabaseExit = (error: Error) => {
    throw error;
  };
  const searchPath = environment['PATH'];
  const [{ openAdapters }, { buildApp }] = await Promise.all([import('./adapters.ts'), import('./app.ts')]);
  const adapters = await openAdapters(config, {
    log,
    searchPath,
    ownAddress: () => '',
    onDatabaseExit,
    sharesDatabase: true,
  });
  try {
    await work(
      await buildApp({
        adapters,
        config,
        publicBaseUrl: () => config.publicBaseUrl ?? '',
        log,
        clocks: openClocks(adapters.db, {}),
        isStopping: () => false,
        checkEveryMs: undefined,
        instance: randomUUID(),
      }),
    );
  } finally {
    await adapters.close();
  }
}
