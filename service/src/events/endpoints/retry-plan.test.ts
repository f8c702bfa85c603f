// Tests when a delivery is complete, and when it is sent again.
import { describe, expect, test } from 'vitest';
import { DEFAULT_RETRY_SECONDS } from '../settings.ts';
import { planDelivery } from './retry-plan.ts';

const HOUR_MS = 3_600_000;
const delaysMs = DEFAULT_RETRY_SECONDS.map((seconds) => seconds * 1000);
const plan = (outcome: Partial<Parameters<typeof planDelivery>[0]>, random = 0) =>
  planDelivery({ status: 500, attempts: 1, ...outcome }, { delaysMs, random: () => random });

describe('a delivery', () => {
  test.each([200, 201, 204, 299])('is complete after %i', (status) => {
    expect(plan({ status })).toEqual({ state: 'delivered' });
  });

  test.each([null, 100, 199, 300, 301, 308, 400, 401, 404, 429, 500, 503])(
    'is sent again after %s',
    (status) => {
      expect(plan({ status })).toEqual({ state: 'pending', delayMs: 5000 });
    },
  );

  test('follows the schedule, then has failed', () => {
    const seconds = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((attempts) => (plan({ attempts }).delayMs ?? 0) / 1000);
    expect(seconds).toEqual([5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]);
    expect(plan({ attempts: 10 })).toEqual({ state: 'failed' });
    expect(plan({ attempts: 10, status: 200 })).toEqual({ state: 'delivered' });
  });

  test('has failed at once where the endpoint is gone', () => {
    expect(plan({ status: 410 })).toEqual({ state: 'failed' });
  });

  test('waits up to a fifth longer than the schedule, never shorter', () => {
    expect(plan({ attempts: 2 }, 0.5).delayMs).toBeCloseTo(330_000);
    expect(plan({ attempts: 2 }, 1).delayMs).toBeCloseTo(360_000);
  });

  test('waits for as long as Retry-After asks, between the schedule and a day', () => {
    expect(plan({ retryAfterMs: 60_000 }).delayMs).toBe(60_000);
    expect(plan({ retryAfterMs: 1000 }).delayMs).toBe(5000);
    expect(plan({ retryAfterMs: 1000 * HOUR_MS }).delayMs).toBe(24 * HOUR_MS);
  });
});
