// Listens to notification channels, all on one connection of its own, while there are subscribers.
import type pg from 'pg';
import { type Connection, connectClient } from './connection.ts';

/** Receives the payload; undefined after a reconnect, when notifications may have been missed. */
type Listener = (payload: string | undefined) => void;

/** Returns the function that ends the subscription. Listeners must not throw. */
type Subscribe<Args extends readonly unknown[]> = (...args: [...Args, listener: Listener]) => () => void;

export type Notifications = { readonly subscribe: Subscribe<[]> };

export type NotificationChannels = {
  readonly subscribe: Subscribe<[channel: string]>;
  readonly close: () => Promise<void>;
};

type NotificationOptions = {
  readonly connection: Connection;
  readonly onError: (error: Error) => void;
};

const RECONNECT_AFTER_MS = 1000;
/** Short subscriptions follow each other, so the channel outlives the last one. */
const LINGER_MS = 30_000;

export function openChannels({ connection, onError }: NotificationOptions): NotificationChannels {
  const channels = new Map<string, Set<Listener>>();
  const notify = (channel: string, payload: string | undefined) => {
    for (const listener of channels.get(channel) ?? []) listener(payload);
  };
  const sessions = keepSession({ connection, onError }, () => channels.keys(), notify);
  const removeIdle = (channel: string) => {
    if (channels.get(channel)?.size !== 0) return;
    channels.delete(channel);
    if (channels.size === 0) void sessions.disconnect();
    else sessions.unlisten(channel);
  };
  const timers = new Set<NodeJS.Timeout>();
  const removeIdleLater = (channel: string) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      removeIdle(channel);
    }, LINGER_MS).unref();
    timers.add(timer);
  };
  return {
    subscribe: (channel, listener) => {
      const known = channels.get(channel);
      const listeners = known ?? new Set();
      listeners.add(listener);
      channels.set(channel, listeners);
      if (!known) sessions.listen(channel);
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) removeIdleLater(channel);
      };
    },
    close: () => {
      for (const timer of timers) clearTimeout(timer);
      return sessions.close();
    },
  };
}

/** Opens a session for the first channel, and another one when it is lost. */
function keepSession(
  { connection, onError }: NotificationOptions,
  listChannels: () => Iterable<string>,
  notify: (channel: string, payload: string | undefined) => void,
) {
  let session: Session | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const listenIn = (opened: Session, channel: string) =>
    opened.listen(channel, () => notify(channel, undefined));
  const connect = () => {
    if (isClosed) return;
    clearTimeout(timer);
    const opened = openSession(connection, notify, (error) => {
      if (session !== opened) return;
      session = undefined;
      onError(error);
      timer = setTimeout(connect, RECONNECT_AFTER_MS).unref();
    });
    session = opened;
    for (const channel of listChannels()) listenIn(opened, channel);
  };
  const disconnect = async () => {
    clearTimeout(timer);
    const ended = session;
    session = undefined;
    await ended?.end();
  };
  return {
    listen: (channel: string) => (session ? listenIn(session, channel) : connect()),
    unlisten: (channel: string) => session?.unlisten(channel),
    disconnect,
    close: () => {
      isClosed = true;
      return disconnect();
    },
  };
}

type Session = {
  listen(channel: string, onListening: () => void): void;
  unlisten(channel: string): void;
  end(): Promise<void>;
};

/** Nothing else is sent here, so that only a statement shows that the connection was lost silently. */
const HEARTBEAT = { text: 'select 1', query_timeout: 5000 };
const HEARTBEAT_MS = 15_000;

/** Calls `onLoss` once, when the connection cannot be opened or is lost. */
function openSession(
  connection: Connection,
  notify: (channel: string, payload: string) => void,
  onLoss: (error: Error) => void,
): Session {
  let client: pg.Client | undefined;
  let isEnded = false;
  const end = async () => {
    isEnded = true;
    clearInterval(heartbeat);
    await client?.end().catch(ignoreLost);
  };
  const lose = (error: Error) => {
    if (isEnded) return;
    onLoss(error);
    void end();
  };
  const open = async () => {
    const options = { keepAlive: true, connectionTimeoutMillis: 5000 };
    const opened = await connectClient(connection, options);
    client = opened;
    opened.on('error', lose);
    opened.on('end', () => lose(new Error('the connection for notifications ended')));
    opened.on('notification', ({ channel, payload }) => {
      if (!isEnded) notify(channel, payload ?? '');
    });
    if (isEnded) void end();
    return opened;
  };
  const opening = open();
  const run = (query: string | pg.QueryConfig) => opening.then((opened) => opened.query(query));
  const heartbeat = setInterval(() => {
    if (client) run(HEARTBEAT).catch(lose);
  }, HEARTBEAT_MS).unref();
  return {
    listen: (channel, onListening) => {
      run(`listen "${channel}"`).then(() => {
        if (!isEnded) onListening();
      }, lose);
    },
    unlisten: (channel) => {
      run(`unlisten "${channel}"`).catch(lose);
    },
    end,
  };
}

/** The connection is lost already. */
const ignoreLost = () => {};
