// The loop that schedules deliveries of new events and sends due ones, in each process that serves the API.
import { createBatcher } from '../../platform/concurrency/batcher.ts';
import { createInFlight, waitAtMost } from '../../platform/concurrency/in-flight.ts';
import { createWakeSignal } from '../../platform/concurrency/wake-signal.ts';
import type { EventsContext } from '../context.ts';
import { HELD_BACK_MS } from '../feed.ts';
import {
  claimDueDeliveries,
  type LeasedDelivery,
  recordAttempts,
  sendDelivery,
} from './delivery-attempts.ts';
import { readOverview } from './delivery-attempts.sql.ts';
import { fanOut } from './fan-out.ts';
import type { CompletedAttempt } from './retry-plan.ts';
import type { WebhookClient } from './webhook-request.ts';

export type DeliverySender = {
  /** Looks for work now. */
  readonly wake: () => void;
  /** Lets running attempts finish for a short time, then leaves them to other processes. */
  readonly stop: () => Promise<void>;
};

/** Fallback for lost notifications, and for deliveries of processes that ended. */
const POLL_MS = 5000;
/** The process that creates the first endpoint sends at once; the others notice it after this time. */
const NO_ENDPOINTS_POLL_MS = 20_000;
/** Poll interval while endpoints use their whole share of attempts. */
const BACKLOG_MS = 250;
/** For an endpoint whose latest attempt failed: its attempts may last until the timeout. */
const FAILING_CONCURRENCY = 2;
/** Time of the queries before and after the request. */
const LEASE_RESERVE_MS = 15_000;
const DRAIN_MS = 2000;
/** Attempts that complete while a transaction stores others share the next one. */
const RECORDING = { concurrency: 1, maxItems: 50 };

export function startDeliverySender(ctx: EventsContext, client: WebhookClient): DeliverySender {
  const signal = createWakeSignal();
  const inFlight = createInFlight();
  const cutOff = new AbortController();
  const follow = createFollower(ctx.notifications, signal.wake);
  const options = { client, record: createRecorder(ctx), signal: cutOff.signal };
  const state = { isStopping: false, running: 0, follow };
  const send = async (delivery: LeasedDelivery) => {
    state.running += 1;
    try {
      await sendDelivery(ctx, delivery, options);
    } catch (error) {
      ctx.log.warn({ err: error, delivery: delivery.id }, 'cannot record a webhook attempt; repeating it');
    } finally {
      state.running -= 1;
      signal.wake();
    }
  };
  const run = async () => {
    while (!state.isStopping) {
      const waitMs = await runOnce(ctx, state, (delivery) => void inFlight.track(send(delivery))).catch(
        (error: unknown) => {
          ctx.log.warn({ err: error }, 'cannot read webhook deliveries; retrying');
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
      client.close();
    },
  };
}

const createRecorder = (ctx: EventsContext) =>
  createBatcher((completed: readonly CompletedAttempt[]) => recordAttempts(ctx, completed), RECORDING);

/** Returns a function that starts or ends the subscription. */
function createFollower({ subscribe }: EventsContext['notifications'], wake: () => void) {
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

/** Returns the wait before the next turn, in milliseconds. */
async function runOnce(
  ctx: EventsContext,
  state: SenderState,
  send: (delivery: LeasedDelivery) => void,
): Promise<number> {
  const overview = await readOverview(ctx.db);
  const hasEndpoints = overview !== undefined && overview.enabled > 0;
  // Without endpoints an event costs nothing.
  state.follow(hasEndpoints);
  if (!hasEndpoints) return NO_ENDPOINTS_POLL_MS;
  const { scheduled, hasMore, isHeldBack } = await fanOut(ctx);
  const dueInMs = scheduled > 0 ? 0 : (overview.due_in_ms ?? POLL_MS);
  const free = ctx.settings.webhookEndpoints.totalConcurrency - state.running;
  const claimed = dueInMs <= 0 && free > 0 && !state.isStopping ? await claim(ctx, free) : [];
  for (const delivery of claimed) send(delivery);
  if (hasMore || claimed.length > 0) return 0;
  if (isHeldBack) return HELD_BACK_MS;
  // The end of an attempt wakes the loop too.
  if (dueInMs <= 0) return free > 0 ? BACKLOG_MS : POLL_MS;
  return Math.min(dueInMs, POLL_MS);
}

function claim(ctx: EventsContext, free: number): Promise<readonly LeasedDelivery[]> {
  const { timeoutMs, concurrency, totalConcurrency } = ctx.settings.webhookEndpoints;
  return claimDueDeliveries(ctx, {
    free,
    total: totalConcurrency,
    perEndpoint: concurrency,
    perFailingEndpoint: Math.min(FAILING_CONCURRENCY, concurrency),
    leaseMs: timeoutMs + LEASE_RESERVE_MS,
  });
}
