// The loop that schedules deliveries of new events and sends due ones, in each process that serves the API.
import { createInFlight, waitAtMost } from '../../platform/concurrency/in-flight.ts';
import { createWakeSignal } from '../../platform/concurrency/wake-signal.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Database } from '../../platform/postgres/database.ts';
import type { Notifications } from '../../platform/postgres/notifications.ts';
import type { Bound } from '../../platform/bind.ts';
import { HELD_BACK_MS } from '../feed.ts';
import type { claimDueDeliveries, LeasedDelivery } from './delivery-attempts.ts';
import { readOverview } from './delivery-attempts.sql.ts';
import type { fanOut } from './fan-out.ts';

type SenderNeeds = {
  readonly db: Database;
  readonly log: Pick<Logger, 'warn'>;
  readonly notifications: Pick<Notifications, 'subscribe'>;
  readonly fanOut: Bound<typeof fanOut>;
  readonly claimDueDeliveries: Bound<typeof claimDueDeliveries>;
  /** Records the attempt. */
  readonly sendDelivery: (delivery: LeasedDelivery, signal: AbortSignal) => Promise<void>;
  readonly closeConnections: () => void;
  readonly timeoutMs: number;
  /** Concurrent attempts of all processes for one endpoint. */
  readonly concurrency: number;
  /** Concurrent attempts of this process. */
  readonly totalConcurrency: number;
};

export type DeliverySender = {
  /** Looks for work now. */
  readonly wake: () => void;
  /** Lets running attempts finish for a short time, then leaves them to other processes. */
  readonly stop: () => Promise<void>;
};

/** Notifications wake the loop; this is the fallback, also for the deliveries of other processes. */
const POLL_MS = 5000;
/** While endpoints have all the attempts that they may have. */
const BACKLOG_MS = 250;
/** An endpoint whose latest attempt failed. Its attempts may take as long as the timeout. */
const FAILING_CONCURRENCY = 2;
/** For the database before and after the request. */
const LEASE_RESERVE_MS = 15_000;
const DRAIN_MS = 2000;

export function startDeliverySender(needs: SenderNeeds): DeliverySender {
  const signal = createWakeSignal();
  const inFlight = createInFlight();
  const cutOff = new AbortController();
  const follow = createFollower(needs.notifications, signal.wake);
  const state = { isStopping: false, running: 0, follow };
  const send = async (delivery: LeasedDelivery) => {
    state.running += 1;
    try {
      await needs.sendDelivery(delivery, cutOff.signal);
    } catch (error) {
      needs.log.warn(
        { err: error, delivery: delivery.id },
        'a webhook attempt was not recorded; it is repeated',
      );
    } finally {
      state.running -= 1;
      signal.wake();
    }
  };
  const run = async () => {
    while (!state.isStopping) {
      const waitMs = await runOnce(needs, state, (delivery) => void inFlight.track(send(delivery))).catch(
        (error: unknown) => {
          needs.log.warn({ err: error }, 'webhook deliveries could not be read; they are read again');
          return POLL_MS;
        },
      );
      if (waitMs > 0 && !state.isStopping) await signal.wait(waitMs);
    }
  };
  const loop = run();
  return {
    wake: signal.wake,
    stop: async () => {
      state.isStopping = true;
      signal.wake();
      await loop;
      follow(false);
      await waitAtMost(DRAIN_MS, inFlight.settled());
      cutOff.abort();
      await waitAtMost(DRAIN_MS, inFlight.settled());
      needs.closeConnections();
    },
  };
}

/** Subscribes while it is asked to. */
function createFollower({ subscribe }: SenderNeeds['notifications'], wake: () => void) {
  let unsubscribe: (() => void) | undefined;
  return (isFollowing: boolean): void => {
    if (isFollowing) unsubscribe ??= subscribe(wake);
    else {
      unsubscribe?.();
      unsubscribe = undefined;
    }
  };
}

type SenderState = {
  readonly running: number;
  readonly isStopping: boolean;
  /** Whether notifications of events wake the loop. */
  readonly follow: (isFollowing: boolean) => void;
};

/** Returns for how long to wait for the next turn. */
async function runOnce(
  needs: SenderNeeds,
  state: SenderState,
  send: (delivery: LeasedDelivery) => void,
): Promise<number> {
  const overview = await readOverview(needs.db);
  const hasEndpoints = overview !== undefined && overview.enabled > 0;
  // Without endpoints an event costs nothing.
  state.follow(hasEndpoints);
  if (!hasEndpoints) return POLL_MS;
  const { scheduled, hasMore, isHeldBack } = await needs.fanOut();
  const dueInMs = scheduled > 0 ? 0 : (overview.due_in_ms ?? POLL_MS);
  const free = needs.totalConcurrency - state.running;
  const claimed = dueInMs <= 0 && free > 0 && !state.isStopping ? await claim(needs, free) : [];
  for (const delivery of claimed) send(delivery);
  if (hasMore || claimed.length > 0) return 0;
  if (isHeldBack) return HELD_BACK_MS;
  // The end of an attempt wakes the loop too.
  if (dueInMs <= 0) return free > 0 ? BACKLOG_MS : POLL_MS;
  return Math.min(dueInMs, POLL_MS);
}

const claim = (
  { claimDueDeliveries, timeoutMs, concurrency, totalConcurrency }: SenderNeeds,
  free: number,
): Promise<readonly LeasedDelivery[]> =>
  claimDueDeliveries({
    free,
    total: totalConcurrency,
    perEndpoint: concurrency,
    perFailingEndpoint: Math.min(FAILING_CONCURRENCY, concurrency),
    leaseMs: timeoutMs + LEASE_RESERVE_MS,
  });
