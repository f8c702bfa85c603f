// The connections of the job queue. Statements are prepared, because PostgreSQL would plan those of the
// queue's library anew each time.
import pg from 'pg';
import { type Connection, sessionOptions } from './database.ts';
import { createNotifications } from './notifications.ts';
import { prepare } from './sql.ts';

/** What the library of the job queue expects of a database. */
export type JobDatabase = {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
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
};

const LIMITS = { max: 4, connectionTimeoutMillis: 5000 };

/**
 * The library commits starts and ends of jobs by itself. The last of them are lost if PostgreSQL or its
 * machine fails, and these jobs run again, as after any failure. New jobs commit with their state.
 */
const SESSION = { synchronous_commit: 'off' };

/** Several statements in one text cannot be prepared. */
const isSingle = (text: string): boolean => !text.includes(';');

export function openJobDatabase({ connection, onError }: JobDatabaseOptions): JobDatabase {
  const pool = new pg.Pool({ ...LIMITS, options: sessionOptions(SESSION), ...connection, keepAlive: true });
  pool.on('error', onError);
  let closing: Promise<void> | undefined;
  return {
    executeSql: (text, values = []) => pool.query(isSingle(text) ? prepare(text, values) : text),
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
