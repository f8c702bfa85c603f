// Listens to a notification channel on a connection of its own, while there are subscribers.
import pg from 'pg';
import type { Connection } from './database.ts';

/** Receives the payload; undefined after a reconnect, when notifications may have been missed. */
type Listener = (payload: string | undefined) => void;

export type Notifications = {
  /** Returns the function that ends the subscription. Listeners must not throw. */
  readonly subscribe: (listener: Listener) => () => void;
  readonly close: () => Promise<void>;
};

type NotificationOptions = {
  readonly connection: Connection;
  readonly channel: string;
  readonly onError: (error: Error) => void;
};

const RECONNECT_AFTER_MS = 1000;
/** Short subscriptions follow each other, so the connection outlives the last one. */
const LINGER_MS = 30_000;

export function createNotifications(options: NotificationOptions): Notifications {
  const listeners = new Set<Listener>();
  const notify: Listener = (payload) => {
    for (const listener of listeners) listener(payload);
  };
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const schedule = (work: () => void, delayMs: number) => {
    clearTimeout(timer);
    timer = setTimeout(work, delayMs).unref();
  };
  const disconnect = async () => {
    clearTimeout(timer);
    const ended = client;
    client = undefined;
    await ended?.end().catch(options.onError);
  };
  const connect = () => {
    if (client || isClosed) return;
    const opened = openClient(options, notify, (error) => {
      if (client !== opened) return;
      client = undefined;
      options.onError(error);
      schedule(connect, RECONNECT_AFTER_MS);
    });
    client = opened;
  };
  const unsubscribe = (listener: Listener) => {
    if (listeners.delete(listener) && listeners.size === 0 && !isClosed) schedule(disconnectIdle, LINGER_MS);
  };
  const disconnectIdle = () => {
    if (listeners.size === 0) void disconnect();
  };
  return {
    subscribe: (listener) => {
      listeners.add(listener);
      connect();
      return () => unsubscribe(listener);
    },
    close: () => {
      isClosed = true;
      return disconnect();
    },
  };
}

/** Calls `onLoss` once, when the connection cannot be opened or is lost. */
function openClient(
  { connection, channel }: NotificationOptions,
  notify: Listener,
  onLoss: (error: Error) => void,
): pg.Client {
  const client = new pg.Client({ ...connection, keepAlive: true, connectionTimeoutMillis: 5000 });
  const lose = (error: Error) => {
    client.removeAllListeners('notification');
    onLoss(error);
    client.end().catch(ignoreLost);
  };
  client.on('error', lose);
  client.on('end', () => onLoss(new Error('the connection for notifications ended')));
  client.on('notification', ({ payload }) => notify(payload ?? ''));
  client
    .connect()
    .then(() => client.query(`listen ${channel}`))
    .then(() => notify(undefined), lose);
  return client;
}

/** The connection is lost already. */
const ignoreLost = () => {};
