// How to reach the database: its servers, and the one among them that takes writes.
import pg from 'pg';
import { isDatabaseUnavailable } from './database-errors.ts';
import { parseDatabaseUrl } from './database-url.ts';

/** Settings of `pg`, which ignores the members that it does not know. */
export type Connection = Pick<
  pg.PoolConfig,
  'connectionString' | 'host' | 'port' | 'user' | 'database' | 'application_name'
> & {
  /** A URL for each server, in order of preference; `connectionString` is the first. */
  readonly servers?: readonly string[];
  /** Refuses a server in recovery. */
  readonly isPrimaryOnly?: boolean;
  /**
   * The servers themselves, for migrations and LISTEN. The connection then leads to a pooler, which may give
   * each transaction another session: no parameters of sessions, no prepared statements.
   */
  readonly direct?: Connection;
};

/** `directUrl`: where the first URL is one of a pooler. */
export const toConnection = (url: string, directUrl?: string): Connection => {
  const { servers, isPrimaryOnly } = parseDatabaseUrl(url);
  const [connectionString] = servers;
  return {
    ...(connectionString && { connectionString }),
    servers,
    isPrimaryOnly,
    application_name: 'mediary',
    ...(directUrl !== undefined && { direct: toConnection(directUrl) }),
  };
};

/** Without the name, by which `pg` prepares a statement, where the next transaction has another session. */
export const toPooledQuery = ({ direct }: Connection, { name, ...query }: pg.QueryConfig): pg.QueryConfig =>
  direct || name === undefined ? query : { name, ...query };

/** The server for new connections. All servers of a database have their turns until one accepts. */
type ServerChoice = {
  readonly count: number;
  current(): string | undefined;
  /** Chooses the server after `failed`, unless another caller has done so. */
  reject(failed: string | undefined): void;
};

export function chooseServer({ servers = [], connectionString }: Connection): ServerChoice {
  let current = connectionString;
  return {
    count: Math.max(1, servers.length),
    current: () => current,
    reject: (failed) => {
      if (failed === current && servers.length > 1)
        current = servers[(servers.indexOf(failed ?? '') + 1) % servers.length];
    },
  };
}

/** SQLSTATE read_only_sql_transaction. */
const READ_ONLY = '25006';

/** Throws UNAVAILABLE where the server is a standby. */
export async function assertPrimary(client: pg.ClientBase, { isPrimaryOnly }: Connection): Promise<void> {
  if (!isPrimaryOnly) return;
  const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
  if (rows[0]?.transaction_read_only === 'on')
    throw Object.assign(new Error('The server is a standby, which takes no writes'), { code: READ_ONLY });
}

/** Opens a session of a server. The caller ends it. */
export async function connectClient(
  { direct, ...pooled }: Connection,
  options: pg.ClientConfig,
): Promise<pg.Client> {
  const connection = direct ?? pooled;
  const choice = chooseServer(connection);
  for (let attempt = 1; ; attempt++) {
    const server = choice.current();
    const client = new pg.Client({ ...options, ...connection, ...(server && { connectionString: server }) });
    // A lost connection also fails the pending query. Without a listener the event would end the process.
    client.on('error', ignoreLoss);
    try {
      await client.connect();
      await assertPrimary(client, connection);
      return client;
    } catch (error) {
      client.end().catch(ignoreLoss);
      choice.reject(server);
      if (attempt >= choice.count || !isDatabaseUnavailable(error)) throw error;
    }
  }
}

const ignoreLoss = () => {};
