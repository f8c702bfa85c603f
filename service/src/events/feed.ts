// The live feed: one reader per process follows the events of all assets.
import { runInScope } from '../platform/observability/tracing.ts';
import { createWakeSignal } from '../platform/concurrency/wake-signal.ts';
import type { EventsContext } from './context.ts';
import { findFeedHead, listEventsAfter } from './feed.sql.ts';
import type { FeedEvent, Position } from './feed-event.ts';

export type Follower = {
  /**
   * Receives every event after the reader's position, page by page. If it rejects, it receives the same page
   * again.
   */
  readonly onEvents: (events: readonly FeedEvent[]) => Promise<void>;
  /** The reader stops when this is false. */
  readonly isNeeded: () => boolean;
};

export type FeedReader = {
  /** The follower has received every event from the reader's start up to here. */
  readonly position: () => Position;
};

const PAGE = 500;
/** Notifications wake the reader. This is the fallback while the connection for notifications is lost. */
const POLL_MS = 5000;
/** Poll interval while a running transaction holds back events: its end may send no notification. */
export const HELD_BACK_MS = 20;
const RETRY_MS = 1000;

/** Starts at the newest event. Rejects if the database does not respond; retries later failures. */
export async function followFeed(
  ctx: EventsContext,
  follower: Follower & { readonly onEnd: () => void },
): Promise<FeedReader> {
  const reader = { current: (await findFeedHead(ctx.db)).head };
  // It outlives the request that has started it.
  void runInScope(undefined, () => readUntilUnneeded(ctx, follower, reader)).then(follower.onEnd);
  return { position: () => reader.current };
}

type ReaderCursor = { current: Position };

async function readUntilUnneeded(
  ctx: EventsContext,
  follower: Follower,
  reader: ReaderCursor,
): Promise<void> {
  const signal = createWakeSignal();
  const unsubscribe = ctx.notifications.subscribe(signal.wake);
  while (follower.isNeeded()) {
    const waitMs = await readPage(ctx, follower, reader).catch((error: unknown) => {
      ctx.log.warn({ err: error }, 'cannot read the event feed; retrying');
      return RETRY_MS;
    });
    if (waitMs > 0) await signal.wait(waitMs);
  }
  unsubscribe();
}

/** Returns the wait before the next page, in milliseconds. */
async function readPage(
  { db }: EventsContext,
  { onEvents }: Follower,
  reader: ReaderCursor,
): Promise<number> {
  const after = reader.current;
  const page = await listEventsAfter(db, { after, limit: PAGE });
  // Before `onEvents`, so that a client who joins meanwhile reads these events from the database.
  reader.current = page.position;
  try {
    if (page.events.length > 0) await onEvents(page.events);
  } catch (error) {
    reader.current = after;
    throw error;
  }
  if (page.hasMore) return 0;
  return page.isHeldBack ? HELD_BACK_MS : POLL_MS;
}
