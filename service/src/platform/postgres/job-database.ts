// The connections of the job queue. Statements are prepared, because PostgreSQL would plan those of the
// queue's library anew each time.
import { type Connection, toPooledQuery } from './connection.ts';
import { isSingleStatement, openPool } from './connection-pool.ts';
import { sessionOptions } from './database.ts';
import { type NotificationChannels, openChannels } from './notifications.ts';
import { prepare } from './sql.ts';
import { toPlainJson } from '../values/plain-text.ts';

/** Runs statements on the tables of the job queue. */
export type JobSqlDatabase = {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
};

/** What the library of the job queue expects of a database. */
export type JobDatabase = JobSqlDatabase & {
  /** Calls `onReconnect` after each connection, when notifications may have been missed. */
  listen(
    channel: string,
    onNotification: (payload: string) => void,
    onReconnect: () => void,
  ): Promise<{ close(): Promise<void> }>;
  /** Can be repeated. */
  close(): Promise<void>;
};

type JobDatabaseOptions = {
  readonly connection: Connection;
  /** Default: a connection of its own. */
  readonly channels?: NotificationChannels | undefined;
  readonly onError: (error: Error) => void;
  /** Limit of a single statement; default 30 s. */
  readonly timeoutMs?: number;
};

/** A statement on a lost connection would otherwise wait for as long as TCP does, a quarter of an hour. */
const TIMEOUT_MS = 30_000;
/** Statistics and deletions of the whole queue, and new schemas: over a minute for millions of jobs. */
const MAINTENANCE_TIMEOUT_MS = 5 * 60_000;

/** The server cancels what the client has given up. */
const STATEMENT_TIMEOUT_MS = MAINTENANCE_TIMEOUT_MS + 5000;
const MAX_CONNECTIONS = 4;

/**
 * The library commits starts and ends of jobs by itself. The last of them are lost if PostgreSQL or its
 * machine fails, and these jobs run again, as after any failure. New jobs commit with their state.
 */
const SESSION = { synchronous_commit: 'off' };

/** The timeout of a pooled role is too short for it. */
const toMaintenance = ({ direct }: Connection, text: string) => ({
  text: direct
    ? text.replace(/^\s*begin;/i, `begin; set local statement_timeout = ${STATEMENT_TIMEOUT_MS};`)
    : text,
  query_timeout: MAINTENANCE_TIMEOUT_MS,
});

/** Errors quote text of strangers. If PostgreSQL refused one, its job would neither fail nor be retried. */
const toStorable = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
    ? toPlainJson(value)
    : value;

export function openJobDatabase({
  connection,
  channels,
  onError,
  timeoutMs = TIMEOUT_MS,
}: JobDatabaseOptions): JobDatabase {
  const pool = openPool({
    connection,
    options: { max: MAX_CONNECTIONS, query_timeout: timeoutMs },
    session: { statement_timeout: STATEMENT_TIMEOUT_MS, options: sessionOptions(SESSION) },
    onIdleError: onError,
  });
  let own: NotificationChannels | undefined;
  let closing: Promise<unknown> | undefined;
  return {
    executeSql: (text, given = []) => {
      const values = given.map(toStorable);
      // Several statements in one text cannot be prepared. They are the maintenance.
      const single = isSingleStatement(text) && toPooledQuery(connection, prepare(text, values));
      return pool.query(single || toMaintenance(connection, text));
    },
    listen: async (channel, onNotification, onReconnect) => {
      own = channels ? undefined : openChannels({ connection, onError });
      const unsubscribe = (channels ?? own)?.subscribe(channel, (payload) => {
        if (payload === undefined) onReconnect();
        else onNotification(payload);
      });
      return { close: async () => unsubscribe?.() };
    },
    close: async () => {
      closing ??= Promise.all([pool.end(), own?.close()]);
      await closing;
    },
  };
}
