// The connections of the job queue. Statements are prepared, because PostgreSQL would plan those of the
// queue's library anew each time.
import pg from 'pg';
import { type Connection, sessionOptions } from './database.ts';
import { createNotifications } from './notifications.ts';
import { prepare } from './sql.ts';

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
  readonly onError: (error: Error) => void;
  /** Limit of a single statement; default 30 s. */
  readonly timeoutMs?: number;
};

/** A statement on a lost connection would otherwise wait for as long as TCP does, a quarter of an hour. */
const TIMEOUT_MS = 30_000;
/** Statistics and deletions of the whole queue, and new schemas: over a minute for millions of jobs. */
const MAINTENANCE_TIMEOUT_MS = 5 * 60_000;

/** The server cancels what the client has given up. */
const LIMITS = {
  max: 4,
  connectionTimeoutMillis: 5000,
  statement_timeout: MAINTENANCE_TIMEOUT_MS + 5000,
};

/**
 * The library commits starts and ends of jobs by itself. The last of them are lost if PostgreSQL or its
 * machine fails, and these jobs run again, as after any failure. New jobs commit with their state.
 */
const SESSION = { synchronous_commit: 'off' };

/** Several statements in one text cannot be prepared. They are the maintenance. */
const isSingle = (text: string): boolean => !text.includes(';');

export function openJobDatabase({
  connection,
  onError,
  timeoutMs = TIMEOUT_MS,
}: JobDatabaseOptions): JobDatabase {
  const limits = { ...LIMITS, query_timeout: timeoutMs };
  const pool = new pg.Pool({ ...limits, options: sessionOptions(SESSION), ...connection, keepAlive: true });
  pool.on('error', onError);
  let closing: Promise<void> | undefined;
  return {
    executeSql: (text, values = []) => {
      const maintenance = { text, query_timeout: MAINTENANCE_TIMEOUT_MS };
      return pool.query(isSingle(text) ? prepare(text, values) : maintenance);
    },
    listen: async (channel, onNotification, onReconnect) => {
      const notifications = createNotifications({ connection, channel: `"${channel}"`, onError });
      notifications.subscribe((payload) => {
        if (payload === undefined) onReconnect();
        else onNotification(payload);
      });
      return notifications;
    },
    close: () => {
      closing ??= pool.end();
      return closing;
    },
  };
}
