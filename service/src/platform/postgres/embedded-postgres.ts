// Runs a PostgreSQL server of our own where no other is configured: the real one, on a Unix socket only (B9).
import { dirname } from 'node:path';
import pg from 'pg';
import { type FolderLock, lockFolder } from './data-folder-lock.ts';
import { runnableBinaries } from './postgres-binaries.ts';
import { ensureCluster } from './postgres-cluster.ts';
import { endOrphan } from './postgres-orphan.ts';
import { PORT, type Place, placeFor } from './postgres-place.ts';
import { type Server, startServer } from './postgres-server.ts';

export type EmbeddedPostgres = {
  /** For pg: host is the socket folder. */
  readonly connection: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly database: string;
  };
  /** Where the cluster lies, for the start-up lines. */
  readonly dataFolder: string;
  stop(): Promise<void>;
};

/** Told when the server ends without stop(); by then it can be started again. */
export type Watch = { readonly onExit?: ((error: Error) => void) | undefined };

/** Starts the server that belongs to a data folder; the first time it makes the cluster and the database. */
export async function startEmbeddedPostgres(
  dataFolder: string,
  { onExit }: Watch = {},
): Promise<EmbeddedPostgres> {
  const place = await placeFor(dataFolder);
  const lock = lockFolder(dirname(place.cluster));
  try {
    const server = await startIn(place);
    const connection = { host: place.socketFolder, port: PORT, user: 'postgres', database: 'mediary' };
    await ensureDatabase(connection).catch((error) => server.stop().then(() => Promise.reject(error)));
    return { connection, dataFolder: place.cluster, stop: watch(server, lock, onExit) };
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function startIn(place: Place): Promise<Server> {
  const { initdb, postgres, pgCtl } = await runnableBinaries(place.owner);
  await ensureCluster(place, initdb);
  await endOrphan(place, pgCtl);
  return startServer(place, postgres);
}

async function ensureDatabase({ database, ...server }: EmbeddedPostgres['connection']): Promise<void> {
  const client = new pg.Client({ ...server, database: 'postgres', connectionTimeoutMillis: 10_000 });
  // A lost connection fails the query that waits, which is where it is reported; unheard it would end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [database]);
    if (!rowCount) await client.query(`create database ${pg.escapeIdentifier(database)}`);
  } finally {
    await client.end();
  }
}

/** Answers the way to stop it; the lock is let go when the server is gone, whoever ended it. */
function watch(server: Server, lock: FolderLock, onExit: Watch['onExit']): () => Promise<void> {
  let stopped: Promise<void> | undefined;
  void server.ended.then((error) => {
    lock.release();
    if (!stopped) onExit?.(error);
  });
  return () => (stopped ??= server.stop());
}
