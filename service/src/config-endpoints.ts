// Reads the settings of outbound webhooks (contract B8, B9).
import type { Settings } from './platform/settings.ts';

export type EndpointSettings = {
  /** Webhook endpoints of the whole service. */
  readonly maxCount: number;
  readonly timeoutMs: number;
  /** Concurrent requests to one endpoint, by all processes. */
  readonly concurrency: number;
  /** Concurrent requests of one process. */
  readonly totalConcurrency: number;
  /** Waits between the attempts of a delivery. */
  readonly delaysMs: readonly number[];
  /** An endpoint is paused when every attempt failed for so long. */
  readonly pauseAfterMs: number;
};

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_MS = 24 * HOUR_S * 1000;
const MAX_RETRIES = 20;
const MAX_DELAY_S = 7 * 24 * HOUR_S;

/** The schedule of Standard Webhooks. */
export const DEFAULT_RETRY_SECONDS: readonly number[] = [
  5,
  5 * MINUTE_S,
  30 * MINUTE_S,
  2 * HOUR_S,
  5 * HOUR_S,
  10 * HOUR_S,
  14 * HOUR_S,
  20 * HOUR_S,
  24 * HOUR_S,
];

export const readEndpointSettings = (settings: Settings): EndpointSettings => {
  const { integer } = settings;
  return {
    maxCount: integer('WEBHOOK_ENDPOINT_MAX_COUNT', { fallback: 100, min: 1, max: 1000 }),
    // Shorter than the lease of an attempt.
    timeoutMs: 1000 * integer('WEBHOOK_ENDPOINT_TIMEOUT_S', { fallback: 15, min: 1, max: 40 }),
    concurrency: integer('WEBHOOK_ENDPOINT_CONCURRENCY', { fallback: 8, min: 1, max: 1000 }),
    totalConcurrency: integer('WEBHOOK_ENDPOINT_TOTAL_CONCURRENCY', { fallback: 64, min: 1, max: 1000 }),
    delaysMs: readDelays(settings),
    pauseAfterMs: DAY_MS * integer('WEBHOOK_ENDPOINT_PAUSE_DAYS', { fallback: 5, min: 1, max: 365 }),
  };
};

function readDelays({ list, problems }: Settings): readonly number[] {
  const named = list('WEBHOOK_ENDPOINT_RETRIES_S');
  const seconds = named.length > 0 ? named.map(Number) : DEFAULT_RETRY_SECONDS;
  const isDelay = (delay: number) => Number.isInteger(delay) && delay >= 1 && delay <= MAX_DELAY_S;
  if (seconds.length > MAX_RETRIES || !seconds.every(isDelay))
    problems.push(
      `WEBHOOK_ENDPOINT_RETRIES_S must be at most ${MAX_RETRIES} whole numbers of seconds ` +
        `from 1 to ${MAX_DELAY_S}, separated by commas, such as 5,300,1800`,
    );
  return seconds.map((delay) => delay * 1000);
}
