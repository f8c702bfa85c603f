// Decides after each attempt whether a delivery is complete, and when to send it again (contract B8).
import type { EndpointDeliveryState } from '@mediary/contract/enums';
import type { DeliveryAttempt } from '@mediary/contract/schemas/webhook-endpoints';

/** `status`: null without a response. `retryAfterMs`: the wait that the response asks for. */
type AttemptOutcome = {
  readonly status: number | null;
  readonly retryAfterMs?: number | undefined;
  /** Including this one. */
  readonly attempts: number;
};

type DeliveryPlan = {
  readonly state: EndpointDeliveryState;
  /** Until the next attempt; undefined: there is none. */
  readonly delayMs?: number;
};

/** The result of an attempt, and the plan for its delivery. `id`: of the delivery. */
export type CompletedAttempt = {
  readonly id: string;
  readonly endpointId: string;
  /** The holder of the lease. */
  readonly holder: string;
  readonly attempt: DeliveryAttempt;
  readonly plan: DeliveryPlan;
};

type RetryPolicy = {
  /** Waits between the attempts; after the last one fails, the delivery has failed. */
  readonly delaysMs: readonly number[];
  /** From 0 to 1. */
  readonly random: () => number;
};

/** Spreads the retries of deliveries that failed together. Never early: a delay is a promise to receivers. */
const JITTER = 0.2;
/** The longest wait that a response can ask for. */
export const MAX_RETRY_AFTER_S = 24 * 3600;
const GONE = 410;

/** Redirects are failures: the service does not follow them. */
export const isAccepted = (status: number | null): boolean =>
  status !== null && status >= 200 && status < 300;

/** The endpoint asks for no further deliveries. */
export const isGone = (status: number | null): boolean => status === GONE;

export function planDelivery(
  { status, retryAfterMs = 0, attempts }: AttemptOutcome,
  { delaysMs, random }: RetryPolicy,
): DeliveryPlan {
  if (isAccepted(status)) return { state: 'delivered' };
  const delayMs = delaysMs[attempts - 1];
  if (isGone(status) || delayMs === undefined) return { state: 'failed' };
  const jitteredMs = delayMs * (1 + JITTER * random());
  const requestedMs = Math.min(retryAfterMs, MAX_RETRY_AFTER_S * 1000);
  return { state: 'pending', delayMs: Math.max(jitteredMs, requestedMs) };
}
