// A pool of connections that follows a failover: it tries all servers, and drops dead connections together.
import pg from 'pg';
import { assertPrimary, chooseServer, type Connection } from './connection.ts';
import { isConnectionLost, isDatabaseUnavailable, isStatementRefused } from './database-errors.ts';

export type DatabasePool = {
  connect(): Promise<pg.PoolClient>;
  /** An error means that the connection must not be used again. */
  release(client: pg.PoolClient, error?: Error): void;
  query(query: pg.QueryConfig): Promise<pg.QueryResult>;
  readonly counts: () => { readonly total: number; readonly idle: number; readonly waiting: number };
  end(): Promise<void>;
};

type PoolOptions = {
  readonly connection: Connection;
  readonly options: pg.PoolConfig;
  /** Parameters of each session. A pooler would refuse them: there the role has to have them. */
  readonly session: pg.PoolConfig;
  /** An idle connection was lost. */
  readonly onIdleError: (error: Error) => void;
};

/** On a busy server a connection with TLS takes seconds. Where there is a second server, it has less time. */
const CONNECT_TIMEOUT_MS = { one: 5000, several: 2000 };
/** The caller waits less, and the connection is ready for a later one. */
const WAIT_TIMEOUT_MS = 3500;

export function openPool({ connection, options, session, onIdleError }: PoolOptions): DatabasePool {
  const { one, several } = CONNECT_TIMEOUT_MS;
  const pool = new pg.Pool({
    ...options,
    ...(connection.direct ? {} : session),
    connectionTimeoutMillis: (connection.servers?.length ?? 1) > 1 ? several : one,
    ...connection,
    keepAlive: true,
  });
  const generations = trackGenerations(pool, (error) => {
    // Errors of connections that close during the shutdown are expected.
    if (!pool.ending) onIdleError(error);
  });
  const release: DatabasePool['release'] = (client, error) => {
    if (error && isConnectionLost(error)) generations.replace(client);
    else if (error && isReadTimeout(error)) void probeIdle(pool, generations);
    client.release(error ?? generations.findReason(client));
  };
  const connect = createConnect({ pool, connection, release });
  const connectInTime = () => waitFor(connect(), release);
  return {
    connect: connectInTime,
    release,
    query: async (query) => {
      const client = await connectInTime();
      return runQuery(client, query, release);
    },
    counts: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    end: () => pool.end(),
  };
}

type Connecting = Pick<DatabasePool, 'release'> & {
  readonly pool: pg.Pool;
  readonly connection: Connection;
};

/** Tries the server of the last connection, then the others. */
function createConnect({ pool, connection, release }: Connecting): () => Promise<pg.PoolClient> {
  const choice = chooseServer(connection);
  const isChecked = new WeakSet<pg.PoolClient>();
  const connectOnce = async () => {
    const client = await pool.connect();
    if (isChecked.has(client)) return client;
    // Without a listener the event of a lost connection would end the process.
    client.on('error', ignoreLoss);
    try {
      await assertPrimary(client, connection);
    } catch (error) {
      release(client, error as Error);
      throw error;
    } finally {
      client.off('error', ignoreLoss);
    }
    isChecked.add(client);
    return client;
  };
  return async () => {
    for (let attempt = 1; ; attempt++) {
      const server = choice.current();
      if (server) pool.options.connectionString = server;
      try {
        return await connectOnce();
      } catch (error) {
        if (isPoolBusy(error) || !isDatabaseUnavailable(error)) throw error;
        choice.reject(server);
        if (attempt >= choice.count) throw error;
      }
    }
  };
}

/** The connections of a generation are dropped together, because one server had them all. */
type Generations = {
  /** Drops all idle connections of the client's generation now, the others when they are released. */
  replace(client: pg.PoolClient): void;
  /** Why a client must not be used again, if its generation was replaced. */
  findReason(client: pg.PoolClient): Error | undefined;
  hasIdle(): boolean;
};

const REPLACED = new Error('another connection to this server was lost');

function trackGenerations(pool: pg.Pool, onIdleError: (error: Error) => void): Generations {
  let current = 0;
  const generations = new WeakMap<pg.PoolClient, number>();
  const idle = new Set<pg.PoolClient>();
  const replace = (client: pg.PoolClient) => {
    if (generations.get(client) !== current) return;
    current += 1;
    // The pool removes an idle client that emits an error.
    for (const each of idle) each.emit('error', REPLACED);
    idle.clear();
  };
  pool.on('connect', (client) => generations.set(client, current));
  pool.on('acquire', (client) => idle.delete(client));
  pool.on('remove', (client) => idle.delete(client));
  pool.on('release', (error, client) => {
    if (!error) idle.add(client);
  });
  pool.on('error', (error, client) => {
    if (error === REPLACED) return;
    idle.delete(client);
    onIdleError(error);
    if (!pool.ending) replace(client);
  });
  return {
    replace,
    findReason: (client) => (generations.get(client) === current ? undefined : REPLACED),
    hasIdle: () => idle.size > 0,
  };
}

/** A statement may be slow; only a connection that does not respond either is lost. */
async function probeIdle(pool: pg.Pool, generations: Generations): Promise<void> {
  if (!generations.hasIdle()) return;
  const client = await pool.connect().catch(() => undefined);
  if (!client) return;
  client.on('error', ignoreLoss);
  const error = await client.query(PROBE).then(
    () => undefined,
    (failure: Error) => failure,
  );
  client.off('error', ignoreLoss);
  if (error) generations.replace(client);
  client.release(error ?? generations.findReason(client));
}

const PROBE = { text: 'select 1', query_timeout: 1000 };
const ignoreLoss = () => {};

async function runQuery(
  client: pg.PoolClient,
  query: pg.QueryConfig,
  release: DatabasePool['release'],
): Promise<pg.QueryResult> {
  let failure: Error | undefined;
  const lose = (error: Error) => {
    failure ??= error;
  };
  client.on('error', lose);
  try {
    return await client.query(query);
  } catch (error) {
    failure ??= isStatementRefused(error) ? await endTransaction(client, query) : (error as Error);
    throw error;
  } finally {
    client.off('error', lose);
    release(client, failure);
  }
}

export const isSingleStatement = (text: string): boolean => !text.includes(';');

/** Several statements may have begun a transaction, in which all later statements would fail. */
const endTransaction = async (client: pg.PoolClient, { text }: pg.QueryConfig): Promise<Error | undefined> =>
  isSingleStatement(text) ? undefined : rollBack(client);

/** Returns an error when the connection must not be used again. */
export const rollBack = (client: pg.PoolClient): Promise<Error | undefined> =>
  client.query('rollback').then(
    () => undefined,
    (error: Error) => error,
  );

/** Rejects after WAIT_TIMEOUT_MS; the connection goes to the pool when it is open. */
async function waitFor(
  connecting: Promise<pg.PoolClient>,
  release: DatabasePool['release'],
): Promise<pg.PoolClient> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    connecting.then(release, ignoreLoss);
    reject(new Error(`timeout: no database connection within ${WAIT_TIMEOUT_MS} ms`));
  }, WAIT_TIMEOUT_MS);
  try {
    return await Promise.race([connecting, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Messages of `pg` without a code. */
const isPoolBusy = (error: unknown): boolean =>
  error instanceof Error && error.message === 'timeout exceeded when trying to connect';
const isReadTimeout = (error: Error): boolean => error.message === 'Query read timeout';
