// All open event streams of this process: live events, limits, heartbeats, orderly end.
import type { Writable } from 'node:stream';
import { type Caller, limitKeyOf } from '../auth/caller.ts';
import { isUnavailable, unavailable } from '../platform/http/errors.ts';
import type { EventsContext } from './context.ts';
import { createEventRenderer, type RenderedEvent, type RenderEvents } from './event-renderer.ts';
import { createReplays } from './event-replays.ts';
import {
  addWaiting,
  advancePosition,
  catchUp,
  type EventStream,
  renderPosition,
  writeLiveEvent,
} from './event-stream.ts';
import { type FeedReader, type Follower, followFeed } from './feed.ts';
import { findFeedHead, raisePositions } from './feed.sql.ts';
import {
  type FeedEvent,
  type FeedFilter,
  invalidPosition,
  isPublished,
  type PageOptions,
  type Position,
} from './feed-event.ts';

type StreamOptions = {
  readonly filter: FeedFilter;
  /** The client's position; undefined: from now on. */
  readonly after: Position | undefined;
  readonly caller: Caller;
};

/**
 * Sends events to the output of `connect` until it closes. Before `connect` is called: throws BAD_REQUEST if
 * this database has no such position, RATE_LIMITED and UNAVAILABLE.
 */
export type OpenStream = (options: StreamOptions, connect: () => Writable) => Promise<void>;

type EventStreams = {
  readonly openStream: OpenStream;
  /** Ends every stream; the clients connect again, to another process. */
  readonly endStreams: () => void;
};

/** Proxies close connections on which nothing arrives for a minute. */
const HEARTBEAT_MS = 15_000;
/** Tells clients how long to wait before they connect again. */
const RECONNECT_MS = 1000;

export function createEventStreams(ctx: EventsContext): EventStreams {
  const renderEvents = createEventRenderer(ctx);
  const replays = createReplays(ctx);
  const streams = new Set<EventStream>();
  let opening = 0;
  const getReader = shareReader(ctx, {
    onEvents: (events) => deliver({ log: ctx.log, renderEvents }, [...streams], events),
    isNeeded: () => streams.size + opening > 0,
  });
  const heartbeat = setInterval(() => {
    for (const stream of streams) stream.output.write(`: heartbeat\n${renderPosition(stream.position)}`);
  }, HEARTBEAT_MS).unref();
  const add = (stream: EventStream, caller: Caller, { position }: FeedReader) => {
    streams.add(stream);
    onClose(stream.output, () => streams.delete(stream));
    stream.output.write(`retry: ${RECONNECT_MS}\n${renderPosition(stream.position)}`);
    const reader = { caller, hasEnded: () => stream.output.destroyed };
    const listEvents = (options: PageOptions) => replays.readPage(reader, options);
    catchUp({ renderEvents, listEvents, livePosition: position }, stream).catch((error: unknown) => {
      ctx.log.warn({ err: error }, 'closed an event stream; its client resumes');
      stream.output.destroy();
    });
  };
  const open = async (
    { filter, after, caller }: StreamOptions,
    connect: () => Writable,
  ): Promise<Writable> => {
    opening += 1;
    try {
      if (after) await assertKnown(ctx, after);
      if (after) await replays.admit(caller);
      const reader = await getReader();
      const output = connect();
      add({ filter, output, position: after ?? reader.position(), waiting: [] }, caller, reader);
      return output;
    } finally {
      opening -= 1;
    }
  };
  return {
    openStream: (options, connect) => limitStream(ctx, options.caller, () => open(options, connect)),
    endStreams: () => {
      clearInterval(heartbeat);
      for (const { output } of streams) output.end();
    },
  };
}

/** Returns the running reader, or starts one. */
function shareReader(ctx: EventsContext, follower: Follower): () => Promise<FeedReader> {
  let reader: Promise<FeedReader> | undefined;
  const clear = () => {
    reader = undefined;
  };
  return async () => {
    reader ??= followFeed(ctx, { ...follower, onEnd: clear });
    return reader.catch((error: unknown) => {
      clear();
      throw error;
    });
  };
}

/** Limits the number of streams and the time that each is open. */
async function limitStream(
  { service, callerLimits, settings }: EventsContext,
  caller: Caller,
  open: () => Promise<Writable>,
): Promise<void> {
  if (service.isStopping()) throw unavailable('The service is stopping. Connect again.');
  const release = callerLimits.heldRequests.hold(limitKeyOf(caller));
  try {
    const output = await open();
    const end = setTimeout(
      () => output.end(),
      withJitter(settings.streamLimits.maxStreamSeconds * 1000),
    ).unref();
    onClose(output, () => {
      clearTimeout(end);
      release();
    });
  } catch (error) {
    release();
    throw error;
  }
}

/** Runs at once if the client has disconnected already. */
function onClose(output: Writable, work: () => void): void {
  output.on('error', ignoreDisconnect).once('close', work);
  if (output.destroyed) work();
}

/** The `close` event follows. */
const ignoreDisconnect = () => {};

/** Streams that clients opened together do not end together. */
const withJitter = (ms: number): number => ms * (0.9 + Math.random() / 10);

/** Before the first event of a restored database is written. */
export async function preparePositions({ db, log }: EventsContext): Promise<void> {
  if (await raisePositions(db))
    log.warn('the database was restored into another server; positions of new events follow the old ones');
}

async function assertKnown({ db }: EventsContext, position: Position): Promise<void> {
  const { newest } = await findFeedHead(db);
  if (position.transactionId > newest) throw invalidPosition('Last-Event-ID');
}

type LiveRenderer = Pick<EventsContext, 'log'> & { readonly renderEvents: RenderEvents };

/** Renders each event once, for all streams. Rejects before it writes, if the database does not respond. */
async function deliver(
  { log, renderEvents }: LiveRenderer,
  streams: readonly EventStream[],
  events: readonly FeedEvent[],
): Promise<void> {
  const published = events.filter(isPublished);
  const byFilter = Map.groupBy(streams, ({ filter }) => keyOf(filter));
  const findStreams = (event: FeedEvent) => keysOf(event).flatMap((key) => byFilter.get(key) ?? []);
  const live = new Set(streams.filter(({ waiting }) => !waiting));
  for (const event of published) for (const stream of findStreams(event)) addWaiting(stream, event);
  const due = published.filter((event) => findStreams(event).some((stream) => live.has(stream)));
  const rendered = await renderEvents(due).catch((error: unknown) => {
    if (isUnavailable(error)) throw error;
    // A retry would fail again, for all streams: instead, each client resumes by itself.
    log.error({ err: error }, 'cannot render an event; closed the live event streams');
    for (const { output } of live) output.destroy();
  });
  if (!rendered) return;
  for (const [index, event] of due.entries())
    for (const stream of findStreams(event))
      if (live.has(stream)) writeLiveEvent(stream, event.position, rendered[index] as RenderedEvent);
  for (const stream of live) advancePosition(stream, events.at(-1)?.position);
}

const keyOf = ({ assetId, ownerUserId }: FeedFilter): string => {
  if (assetId !== undefined) return `asset ${assetId}`;
  return ownerUserId === undefined ? 'all' : `owner ${ownerUserId}`;
};
const keysOf = (event: FeedEvent): string[] => [
  `asset ${event.asset_id}`,
  `owner ${event.owner_user_id}`,
  'all',
];
