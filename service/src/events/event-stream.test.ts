// Tests how a stream changes from stored to live events, and what happens to clients that do not read.
import { PassThrough } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import { createEventsContext } from './context.fixture.ts';
import { createEventRenderer } from './event-renderer.ts';
import { addWaiting, catchUp, type EventStream, writeLiveEvent } from './event-stream.ts';
import { type FeedEvent, isAfter, type PageOptions, type Position } from './feed-event.ts';

const positionOf = (number: number): Position => ({
  transactionId: number,
  id: '019aab7c-4d2e-7c55-9f0e-6d1f2b3c4d5e',
});

const eventOf = (number: number, type = 'asset.updated'): FeedEvent => ({
  id: String(number),
  asset_id: 'asset',
  owner_user_id: 'ann',
  type,
  data: {},
  created_at: new Date(0),
  position: positionOf(number),
});

const streamOf = (after: number): EventStream & { output: PassThrough } => ({
  filter: {},
  output: new PassThrough(),
  position: positionOf(after),
  waiting: [],
});

const idsOf = (output: PassThrough): number[] =>
  [...String(output.read() ?? '').matchAll(/^id: (\d+)-/gm)].map(([, id]) => Number(id));

/** A database of `stored` events; `onRead` runs while a page is read. */
function openFeed(stored: FeedEvent[], onRead: (reads: number) => void = () => {}) {
  let reads = 0;
  return {
    renderEvents: createEventRenderer(createEventsContext({})),
    livePosition: () => stored.at(-1)?.position ?? positionOf(0),
    listEvents: async ({ after, until, limit }: PageOptions) => {
      const due = stored.filter(
        ({ position }) => isAfter(position, after) && !(until && isAfter(position, until)),
      );
      onRead(++reads);
      const events = due.slice(0, limit);
      return {
        events,
        position: events.at(-1)?.position ?? after,
        hasMore: events.length === limit,
        isHeldBack: false,
      };
    },
  };
}

describe('a stream that catches up', () => {
  test('sends stored events, then those that arrive meanwhile, each once', async () => {
    const stored = Array.from({ length: 250 }, (_, index) => eventOf(index + 1));
    const stream = streamOf(10);
    const feed = openFeed(stored, (reads) => {
      if (reads !== 2) return;
      for (const number of [250, 251, 252]) addWaiting(stream, eventOf(number));
    });
    await catchUp(feed, stream);
    expect(stream.waiting).toBeUndefined();
    expect(idsOf(stream.output)).toEqual(Array.from({ length: 242 }, (_, index) => index + 11));
  });

  test('reads events from the database again if more arrive than can wait', async () => {
    const stored = [eventOf(1)];
    const stream = streamOf(0);
    const feed = openFeed(stored, (reads) => {
      if (reads !== 1) return;
      for (let number = 2; number <= 900; number++) {
        stored.push(eventOf(number));
        addWaiting(stream, eventOf(number));
      }
    });
    const ids: number[] = [];
    stream.output.on('readable', () => ids.push(...idsOf(stream.output)));
    await catchUp(feed, stream);
    await vi.waitFor(() => expect(ids).toHaveLength(900));
    expect(ids).toEqual(Array.from({ length: 900 }, (_, index) => index + 1));
  });

  test('reads each page once, also one without published events', async () => {
    const checks = Array.from({ length: 120 }, (_, index) => eventOf(index + 2, 'asset.checked'));
    const stream = streamOf(0);
    let pages = 0;
    const feed = openFeed([eventOf(1), ...checks, eventOf(122)], (reads) => {
      pages = reads;
      if (reads > 3) throw new Error('read a page again');
    });
    await catchUp(feed, stream);
    expect([idsOf(stream.output), pages]).toEqual([[1, 122], 3]);
  });

  test('ends when the client disconnects while it does not read', async () => {
    const stream = streamOf(0);
    const caughtUp = catchUp(
      openFeed(Array.from({ length: 2000 }, (_, index) => eventOf(index + 1))),
      stream,
    );
    await vi.waitUntil(() => stream.output.writableLength > 64 * 1024);
    stream.output.destroy();
    await caughtUp;
    expect(stream.output.destroyed).toBe(true);
  });
});

test('a live stream is closed when its client leaves more than 256 KiB unread', () => {
  const stream = { ...streamOf(0), waiting: undefined };
  const write = (number: number) => {
    const start = Buffer.from(`id: ${number}-\ndata: ${'x'.repeat(64 * 1024)}`);
    writeLiveEvent(stream, positionOf(number), { start, asset: Buffer.from('null') });
  };
  for (const number of [1, 2, 3]) write(number);
  expect(stream.output.destroyed).toBe(false);
  for (const number of [4, 5]) write(number);
  expect(stream.output.destroyed).toBe(true);
});
