// Settings of event streams, and of webhooks to endpoints (contract B8, B9).
import { integer, list } from '../platform/settings/setting.ts';

const DAY_S = 86_400;
const HOUR_S = 3600;
const MINUTE_S = 60;
const MAX_RETRIES = 20;
const MAX_DELAY_S = 7 * DAY_S;

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

const MAX_COUNT = { min: 1, max: 1_000_000 };

export const STREAM_SETTINGS = {
  title: 'Event streams',
  settings: {
    streamLimits: {
      maxStreams: integer('EVENT_STREAMS_MAX', 'Event streams and long polls that one process holds.', {
        fallback: 4000,
        ...MAX_COUNT,
      }),
      maxStreamsPerCaller: integer(
        'EVENT_STREAMS_PER_USER',
        'Event streams and long polls of one user that one process holds; further ones get 429.',
        { fallback: 100, ...MAX_COUNT },
      ),
      maxStreamSeconds: integer(
        'EVENT_STREAM_MAX_S',
        'Seconds after which a stream ends, and its client connects and authenticates again.',
        { fallback: HOUR_S, min: 1, max: DAY_S },
      ),
      replayedPerMinute: integer(
        'EVENT_REPLAY_PER_MINUTE',
        'Stored events per minute that the event streams of one user are sent after they resume, a ' +
          'sixth of ' +
          'them at once, in each process; further ones wait. Each page of 50 also counts as a request of ' +
          '`RATE_LIMIT_PER_OWNER`.',
        { fallback: 12_000, min: 50, max: 10_000_000 },
      ),
    },
  },
};

export const WEBHOOK_SETTINGS = {
  title: 'Webhooks',
  settings: {
    webhookRetentionDays: integer(
      'WEBHOOK_RETENTION_DAYS',
      'Days that webhook deliveries are kept at least; received ones are removed by whole months, sent ' +
        'ones by ' +
        'the hour.',
      { fallback: 30, min: 7, max: 3650 },
    ),
    webhookEndpoints: {
      maxCount: integer('WEBHOOK_ENDPOINT_MAX_COUNT', 'Webhook endpoints of the whole service.', {
        fallback: 100,
        min: 1,
        max: 1000,
      }),
      timeoutMs: integer('WEBHOOK_ENDPOINT_TIMEOUT_S', 'Seconds in which an endpoint must respond.', {
        fallback: 15,
        min: 1,
        // Shorter than the lease of an attempt.
        max: 40,
        scale: 1000,
      }),
      delaysMs: list(
        'WEBHOOK_ENDPOINT_RETRIES_S',
        'Seconds to wait before each retry of a webhook, comma-separated.',
        {
          byDefault: DEFAULT_RETRY_SECONDS.join(','),
          allowed: `at most ${MAX_RETRIES} numbers from 1 to ${MAX_DELAY_S}`,
          parse: parseDelays,
        },
      ),
      concurrency: integer(
        'WEBHOOK_ENDPOINT_CONCURRENCY',
        'Concurrent requests to one webhook endpoint by all processes.',
        { fallback: 8, min: 1, max: 1000 },
      ),
      totalConcurrency: integer(
        'WEBHOOK_ENDPOINT_TOTAL_CONCURRENCY',
        'Concurrent requests of one process to all webhook endpoints.',
        { fallback: 64, min: 1, max: 1000 },
      ),
      pauseAfterMs: integer(
        'WEBHOOK_ENDPOINT_PAUSE_DAYS',
        'Days of failures without a success after which an endpoint is paused.',
        { fallback: 5, min: 1, max: 365, scale: DAY_S * 1000 },
      ),
    },
  },
};

function parseDelays(named: readonly string[], report: (problem: string) => void): readonly number[] {
  const seconds = named.length > 0 ? named.map(Number) : DEFAULT_RETRY_SECONDS;
  const isDelay = (delay: number) => Number.isInteger(delay) && delay >= 1 && delay <= MAX_DELAY_S;
  if (seconds.length > MAX_RETRIES || !seconds.every(isDelay))
    report(
      `WEBHOOK_ENDPOINT_RETRIES_S must be at most ${MAX_RETRIES} whole numbers of seconds ` +
        `from 1 to ${MAX_DELAY_S}, separated by commas, such as 5,300,1800`,
    );
  return seconds.map((delay) => delay * 1000);
}
