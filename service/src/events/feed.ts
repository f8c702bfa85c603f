// The live feed: one reader per process follows the events of all assets.
import { createWakeSignal } from '../platform/concurrency/wake-signal.ts';
import type { Logger } from '../platform/logger.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { Notifications } from '../platform/postgres/notifications.ts';
import { findFeedHead, listEventsAfter } from './feed.sql.ts';
import type { FeedEvent } from './feed-event.ts';
import type { Position } from './feed-position.ts';

export type FeedNeeds = {
  readonly db: Database;
  readonly notifications: Pick<Notifications, 'subscribe'>;
  readonly log: Pick<Logger, 'warn'>;
};

export type Follower = {
  /**
   * Receives every event after the position of the reader. The next ones follow after it has resolved; if it
   * rejects, it receives these again.
   */
  readonly onEvents: (events: readonly FeedEvent[]) => Promise<void>;
  /** The reader ends where this is false. */
  readonly isNeeded: () => boolean;
};

export type FeedReader = {
  /** Every event up to here was passed on, or precedes the start of the reader. */
  readonly position: () => Position;
};

const PAGE = 500;
/** Notifications wake the reader. This is the fallback while the connection for notifications is lost. */
const POLL_MS = 5000;
/** Until a transaction that holds back events has ended; the end of one without events is not notified. */
export const HELD_BACK_MS = 20;
const RETRY_MS = 1000;

/** Starts at the newest event. Rejects if the database does not respond; later failures are retried. */
export async function followFeed(
  needs: FeedNeeds,
  follower: Follower & { readonly onEnd: () => void },
): Promise<FeedReader> {
  const reader = { current: (await findFeedHead(needs.db)).head };
  void readUntilUnneeded(needs, follower, reader).then(follower.onEnd);
  return { position: () => reader.current };
}

type ReaderState = { current: Position };

async function readUntilUnneeded(needs: FeedNeeds, follower: Follower, reader: ReaderState): Promise<void> {
  const signal = createWakeSignal();
  const unsubscribe = needs.notifications.subscribe(signal.wake);
  while (follower.isNeeded()) {
    const waitMs = await readPage(needs, follower, reader).catch((error: unknown) => {
      needs.log.warn({ err: error }, 'the event feed could not be read; it is read again');
      return RETRY_MS;
    });
    if (waitMs > 0) await signal.wait(waitMs);
  }
  unsubscribe();
}

/** Returns for how long to wait for the next page. */
async function readPage({ db }: FeedNeeds, { onEvents }: Follower, reader: ReaderState): Promise<number> {
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
