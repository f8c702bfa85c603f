// Reads of stored events: the streams of one user take turns, within a budget of events per minute.
import { type Caller, limitKeyOf } from '../auth/caller.ts';
import { createKeyedMutex } from '../platform/concurrency/keyed-mutex.ts';
import { ServiceError } from '../platform/errors.ts';
import type { FeedPage } from './feed-event.ts';

/** Stored events that are read at once. */
export const REPLAY_PAGE = 50;

type ReplayNeeds = {
  /** Stored events that the streams of one user read per minute. */
  readonly replayedPerMinute: number;
  /** Throws RATE_LIMITED; does nothing where rate limits are off. */
  readonly limitOwner: (ownerUserId: string) => Promise<void>;
};

export type Replays = {
  /** Charges the first page; throws RATE_LIMITED. */
  readonly admit: (caller: Caller) => Promise<void>;
  /**
   * Waits for the user's turn and budget before `read`. A stream that has ended takes nothing from the
   * budget. Services are not limited.
   */
  readonly readPage: (
    reader: { readonly caller: Caller; readonly hasEnded: () => boolean },
    read: () => Promise<FeedPage>,
  ) => Promise<FeedPage>;
};

export function createReplays({ replayedPerMinute, limitOwner }: ReplayNeeds): Replays {
  const runExclusive = createKeyedMutex();
  const budget = createPageBudget(replayedPerMinute / REPLAY_PAGE);
  return {
    admit: async (caller) => {
      const user = limitKeyOf(caller);
      if (user !== undefined) await limitOwner(user);
    },
    readPage: (reader, read) => {
      const user = limitKeyOf(reader.caller);
      if (user === undefined) return read();
      return runExclusive(user, async () => {
        if (!reader.hasEnded()) await budget.wait(user);
        if (!reader.hasEnded()) await waitForRate(() => limitOwner(user));
        if (!reader.hasEnded()) budget.take(user);
        return read();
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

/** Users whose budget is full again are forgotten above this number. */
const MAX_USERS = 10_000;

/** The budget of this time can be used at once. */
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
