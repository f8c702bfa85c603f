// Reads of stored events: the streams of one user take turns, within a budget of events per minute.
import { type Caller, limitKeyOf } from '../auth/caller.ts';
import { createBatcher } from '../platform/concurrency/batcher.ts';
import { createKeyedMutex } from '../platform/concurrency/keyed-mutex.ts';
import { ServiceError } from '../platform/http/errors.ts';
import type { EventsContext } from './context.ts';
import { listEventsAfter } from './feed.sql.ts';
import type { FeedPage, PageOptions } from './feed-event.ts';

/** Number of stored events that a stream reads at once. */
export const REPLAY_PAGE = 50;

/** Limits reads of stored events: many clients resume at once after a restart. */
const READS = { concurrency: 3, maxItems: 1 };

type Replays = {
  /** Charges the first page; throws RATE_LIMITED. */
  readonly admit: (caller: Caller) => Promise<void>;
  /**
   * Waits for the user's turn and budget before it reads. A stream that has ended uses no budget; services
   * have no limit.
   */
  readonly readPage: (
    reader: { readonly caller: Caller; readonly hasEnded: () => boolean },
    options: PageOptions,
  ) => Promise<FeedPage>;
};

export function createReplays({ db, settings, callerLimits: { limitOwner } }: EventsContext): Replays {
  const listEvents = createBatcher(
    (pages: readonly PageOptions[]) => Promise.all(pages.map((options) => listEventsAfter(db, options))),
    READS,
  );
  const runExclusive = createKeyedMutex();
  const budget = createPageBudget(settings.streamLimits.replayedPerMinute / REPLAY_PAGE);
  return {
    admit: async (caller) => {
      const user = limitKeyOf(caller);
      if (user !== undefined) await limitOwner(user);
    },
    readPage: (reader, options) => {
      const user = limitKeyOf(reader.caller);
      if (user === undefined) return listEvents(options);
      return runExclusive(user, async () => {
        if (!reader.hasEnded()) await budget.wait(user);
        if (!reader.hasEnded()) await waitForRate(() => limitOwner(user));
        if (!reader.hasEnded()) budget.take(user);
        return listEvents(options);
      });
    },
  };
}

async function waitForRate(limit: () => Promise<void>): Promise<void> {
  for (;;) {
    const waitSeconds = await limit().then(() => 0, secondsToWait);
    if (waitSeconds === 0) return;
    await sleep(waitSeconds * 1000);
  }
}

function secondsToWait(error: unknown): number {
  if (error instanceof ServiceError && error.code === 'RATE_LIMITED') return error.retryAfterSeconds ?? 1;
  throw error;
}

/** Above this number, users whose budget is full again are deleted from the map. */
const MAX_USERS = 10_000;

/** A burst may use the budget of this time at once. */
const BURST_MS = 10_000;

function createPageBudget(pagesPerMinute: number) {
  const pageMs = 60_000 / pagesPerMinute;
  const burstMs = Math.max(BURST_MS, pageMs);
  /** When the budget of each user is full again. */
  const fullAt = new Map<string, number>();
  const waitMs = (user: string): number => (fullAt.get(user) ?? 0) + pageMs - burstMs - performance.now();
  return {
    wait: async (user: string) => {
      const ms = waitMs(user);
      if (ms > 0) await sleep(ms);
    },
    take: (user: string) => {
      const now = performance.now();
      if (fullAt.size >= MAX_USERS) for (const [name, at] of fullAt) if (at <= now) fullAt.delete(name);
      fullAt.set(user, Math.max(now, fullAt.get(user) ?? 0) + pageMs);
    },
  };
}

const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
