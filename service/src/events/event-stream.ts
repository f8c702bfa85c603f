// One open event stream: first the stored events after the client's position, then live ones.
import type { Writable } from 'node:stream';
import type { RenderedEvent, RenderEvents } from './event-renderer.ts';
import { REPLAY_PAGE } from './event-replays.ts';
import {
  EVENT_END,
  type FeedEvent,
  type FeedFilter,
  type FeedPage,
  formatPosition,
  isAfter,
  isPublished,
  type PageOptions,
  type Position,
} from './feed-event.ts';

/** The feed, as one stream reads it. */
type StreamFeed = {
  readonly renderEvents: RenderEvents;
  readonly listEvents: (options: PageOptions) => Promise<FeedPage>;
  /** The last position that this process has sent to its live streams. */
  readonly livePosition: () => Position;
};

export type EventStream = {
  readonly filter: FeedFilter;
  readonly output: Writable;
  /** Position of the last event sent, or a later one before which the filter matches nothing. */
  position: Position;
  /** Live events that wait until the stored ones are sent; undefined: the stream is live. */
  waiting: FeedEvent[] | undefined;
};

/** The stream closes a client that reads too slowly; the client resumes from the database. */
const MAX_UNREAD_BYTES = 256 * 1024;
/** The stream writes stored events up to this size, then waits until the client reads. */
const PAUSE_BYTES = 64 * 1024;
/** Few, because a client that does not read keeps them in memory. */
const RENDERED_AT_ONCE = 10;
/** A stream with more waiting events reads them from the database instead. */
const MAX_WAITING = 500;

/** A block without `data` dispatches no event, but sets the position that the client resumes from. */
export const renderPosition = (position: Position): string => `id: ${formatPosition(position)}\n\n`;

/** Sends stored events until the stream is live. Returns early when the client has disconnected. */
export async function catchUp(feed: StreamFeed, stream: EventStream): Promise<void> {
  do {
    stream.waiting = [];
    await sendStored(feed, stream, feed.livePosition());
  } while (!(await sendWaiting(feed, stream)));
}

async function sendStored(feed: StreamFeed, stream: EventStream, until: Position): Promise<void> {
  const { filter, output } = stream;
  if (!isAfter(until, stream.position)) return;
  for (let hasMore = true; hasMore && !output.destroyed; ) {
    const page = await feed.listEvents({ after: stream.position, until, filter, limit: REPLAY_PAGE });
    await send(feed, stream, page.events.filter(isPublished));
    // A page without published events moves the position too: otherwise the stream reads it again.
    if (!output.destroyed) advancePosition(stream, page.position);
    hasMore = page.hasMore;
  }
  advancePosition(stream, until);
}

/** False if more events arrived than can wait. */
async function sendWaiting(feed: StreamFeed, stream: EventStream): Promise<boolean> {
  for (;;) {
    const events = stream.waiting ?? [];
    if (stream.output.destroyed || events.length === 0) break;
    if (events.length > MAX_WAITING) return false;
    stream.waiting = [];
    await send(feed, stream, events.filter(isPublished));
  }
  stream.waiting = undefined;
  return true;
}

async function send(feed: StreamFeed, stream: EventStream, events: readonly FeedEvent[]): Promise<void> {
  const { output } = stream;
  for (let sent = 0; sent < events.length && !output.destroyed; ) {
    sent += await sendSome(feed, stream, events.slice(sent, sent + RENDERED_AT_ONCE));
    if (isPaused(output)) await drained(output);
  }
}

/** Returns the number of events sent before the client has to read. */
async function sendSome(
  feed: StreamFeed,
  stream: EventStream,
  events: readonly FeedEvent[],
): Promise<number> {
  const rendered = await feed.renderEvents(events);
  for (const [index, event] of events.entries()) {
    writeEvent(stream, event.position, rendered[index] as RenderedEvent);
    if (isPaused(stream.output)) return index + 1;
  }
  return events.length;
}

const isPaused = ({ writableLength }: Writable): boolean => writableLength > PAUSE_BYTES;

/** Skips events that the client has received already. */
function writeEvent(stream: EventStream, position: Position, event: RenderedEvent): void {
  if (!isAfter(position, stream.position)) return;
  stream.position = position;
  const { output } = stream;
  output.cork();
  output.write(event.start);
  output.write(event.asset);
  output.write(EVENT_END);
  output.uncork();
}

/** Closes the stream when its client leaves too much unread. */
export function writeLiveEvent(stream: EventStream, position: Position, event: RenderedEvent): void {
  if (stream.output.destroyed) return;
  writeEvent(stream, position, event);
  if (stream.output.writableLength > MAX_UNREAD_BYTES) stream.output.destroy();
}

/** Adds a live event; the stream sends it after the stored ones. */
export function addWaiting({ waiting }: EventStream, event: FeedEvent): void {
  if (waiting && waiting.length <= MAX_WAITING) waiting.push(event);
}

/** The client resumes after these events, whether they matched its filter or not. */
export function advancePosition(stream: EventStream, position: Position | undefined): void {
  if (position && isAfter(position, stream.position)) stream.position = position;
}

const drained = (output: Writable): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      output.off('drain', done).off('close', done);
      resolve();
    };
    output.on('drain', done).on('close', done);
    if (output.destroyed) done();
  });
