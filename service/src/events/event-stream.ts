// One open event stream: first the stored events after the client's position, then live ones.
import type { Writable } from 'node:stream';
import { renderEvents, type RenderNeeds } from './event-renderer.ts';
import {
  type FeedEvent,
  type FeedFilter,
  type FeedPage,
  isPublished,
  type PageOptions,
} from './feed-event.ts';
import { formatPosition, isAfter, type Position } from './feed-position.ts';

type StreamNeeds = RenderNeeds & {
  readonly listEvents: (options: PageOptions) => Promise<FeedPage>;
  /** The position up to which events were passed to the streams of this process. */
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

/** A client that reads more slowly than events arrive is closed; it resumes from the database. */
const MAX_UNREAD_BYTES = 256 * 1024;
/** Stored events are written up to this size, then the client has to read. */
const PAUSE_BYTES = 64 * 1024;
const PAGE = 100;
/** A stream with more waiting events reads them from the database instead. */
const MAX_WAITING = 500;

/** A block without `data` dispatches no event, but sets the position that the client resumes from. */
export const renderPosition = (position: Position): string => `id: ${formatPosition(position)}\n\n`;

/** Sends stored events until the stream is live. Returns early when the client has disconnected. */
export async function catchUp(needs: StreamNeeds, stream: EventStream): Promise<void> {
  do {
    stream.waiting = [];
    await sendStored(needs, stream, needs.livePosition());
  } while (!(await sendWaiting(needs, stream)));
}

async function sendStored(needs: StreamNeeds, stream: EventStream, until: Position): Promise<void> {
  const { filter, output } = stream;
  for (let hasMore = true; hasMore && !output.destroyed; ) {
    const page = await needs.listEvents({ after: stream.position, until, filter, limit: PAGE });
    await send(needs, stream, page.events);
    hasMore = page.hasMore;
  }
  if (isAfter(until, stream.position)) stream.position = until;
}

/** False if more events arrived than can wait. */
async function sendWaiting(needs: StreamNeeds, stream: EventStream): Promise<boolean> {
  for (;;) {
    const events = stream.waiting ?? [];
    if (stream.output.destroyed || events.length === 0) break;
    if (events.length > MAX_WAITING) return false;
    stream.waiting = [];
    await send(needs, stream, events);
  }
  stream.waiting = undefined;
  return true;
}

async function send(needs: StreamNeeds, stream: EventStream, events: readonly FeedEvent[]): Promise<void> {
  const published = events.filter(isPublished);
  const texts = await renderEvents(needs, published);
  for (const [index, event] of published.entries()) writeEvent(stream, event.position, texts[index] ?? '');
  if (stream.output.writableLength > PAUSE_BYTES) await drained(stream.output);
}

/** Events that the client has received already are skipped. */
export function writeEvent(stream: EventStream, position: Position, text: string): void {
  if (!isAfter(position, stream.position)) return;
  stream.position = position;
  stream.output.write(text);
}

/** Adds a live event; the stream sends it after the stored ones. */
export function addWaiting({ waiting }: EventStream, event: FeedEvent): void {
  if (waiting && waiting.length <= MAX_WAITING) waiting.push(event);
}

/** After a batch of live events: the client resumes after the batch, whether it matched an event or not. */
export function finishBatch(stream: EventStream, position: Position | undefined): void {
  if (position && isAfter(position, stream.position)) stream.position = position;
  if (stream.output.writableLength > MAX_UNREAD_BYTES) stream.output.destroy();
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
