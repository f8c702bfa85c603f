// Starts and stops the embedded PostgreSQL server of a data folder.
import { dirname } from 'node:path';
import pg from 'pg';
import { type FolderLock, isInUse, lockFolder } from './folder-lock.ts';
import { prepareBinaries } from './binaries.ts';
import { ensureCluster, isCluster } from './cluster.ts';
import { stopOrphanServer } from './orphan-server.ts';
import { PORT, type ClusterLayout, resolveLayout } from './layout.ts';
import { type Server, startServer } from './server-process.ts';

export type EmbeddedPostgres = {
  /** Settings for `pg`; host is the socket folder. */
  readonly connection: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly database: string;
  };
  /** The folder of the cluster. */
  readonly dataFolder: string;
  stop(): Promise<void>;
};

export type LauncherOptions = {
  /** Called when the server ends without stop(); the folder lock is free by then. */
  readonly onExit?: ((error: Error) => void) | undefined;
  /** Called before the first start creates the cluster, with its folder. */
  readonly onCreate?: ((cluster: string) => void) | undefined;
  /** Settings of the server by name, for data that is thrown away. They replace the durable ones. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
};

/** Starts the server of a data folder. The first start creates the cluster and the database. */
export async function startEmbeddedPostgres(
  dataFolder: string,
  { onExit, onCreate, settings }: LauncherOptions = {},
): Promise<EmbeddedPostgres> {
  const layout = await resolveLayout(dataFolder);
  const lock = lockFolder(dirname(layout.cluster));
  try {
    const server = await startServerIn(layout, { onCreate, settings });
    const connection = connectionTo(layout);
    await ensureDatabase(connection).catch((error) => server.stop().then(() => Promise.reject(error)));
    return { connection, dataFolder: layout.cluster, stop: buildStop(server, lock, onExit) };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * The server that a service has started in this folder, or a new one, which `stop` ends. Throws where the
 * folder has no cluster.
 */
export async function openEmbeddedPostgres(dataFolder: string): Promise<EmbeddedPostgres> {
  const layout = await resolveLayout(dataFolder);
  if (!isCluster(layout.cluster)) throw new Error(`${dataFolder} has no database`);
  try {
    return await startEmbeddedPostgres(dataFolder);
  } catch (error) {
    if (!isInUse(error)) throw error;
    return { connection: connectionTo(layout), dataFolder: layout.cluster, stop: async () => {} };
  }
}

/** Settings for `pg` of the server of a cluster. */
export const connectionTo = ({ socketFolder }: ClusterLayout): EmbeddedPostgres['connection'] => ({
  host: socketFolder,
  port: PORT,
  user: 'postgres',
  database: 'mediary',
});

async function startServerIn(
  layout: ClusterLayout,
  { onCreate, settings }: Pick<LauncherOptions, 'onCreate' | 'settings'>,
): Promise<Server> {
  const { initdb, postgres, pgCtl } = await prepareBinaries(layout.owner);
  await ensureCluster(layout, initdb, onCreate);
  await stopOrphanServer(layout, pgCtl);
  return startServer(layout, postgres, settings);
}

async function ensureDatabase({ database, ...server }: EmbeddedPostgres['connection']): Promise<void> {
  const client = new pg.Client({ ...server, database: 'postgres', connectionTimeoutMillis: 10_000 });
  // A lost connection rejects the pending query; without this listener the event would end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [database]);
    if (!rowCount) await client.query(`create database ${pg.escapeIdentifier(database)}`);
  } finally {
    await client.end();
  }
}

/** Returns stop(). Releases the lock when the server has ended, for any reason. */
function buildStop(server: Server, lock: FolderLock, onExit: LauncherOptions['onExit']): () => Promise<void> {
  let stopped: Promise<void> | undefined;
  void server.ended.then((error) => {
    lock.release();
    if (!stopped) onExit?.(error);
  });
  return () => (stopped ??= server.stop());
}
