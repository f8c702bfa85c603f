// Tests the limiter's local cache of denials and its behaviour when the database does not respond.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Queries } from './database.ts';
import { openRateLimiter } from './token-bucket.ts';

const POLICY = { name: 'owner', limit: 10, windowSeconds: 10 };
type Row = { key: string; granted: number; full_in_ms: number };

let now = 0;
let statements = 0;
let errors = 0;
beforeEach(() => {
  [now, statements, errors] = [1_000_000, 0, 0];
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const limiterOf = (answer: () => Promise<Row[]>) =>
  openRateLimiter({
    db: {
      all: async () => {
        statements += 1;
        return answer();
      },
    } as unknown as Queries,
    policy: POLICY,
    nowMs: () => now,
    onError: () => {
      errors += 1;
    },
  });
const bucket = (granted: number, fullInMs: number) => async () => [
  { key: 'owner ann', granted, full_in_ms: fullInMs },
];

test('concurrent requests share a statement and its tokens', async () => {
  const take = limiterOf(bucket(2, 10_000));
  const results = await Promise.all([take('ann'), take('ann'), take('ann')]);
  expect(results.map((result) => result?.isAllowed)).toEqual([true, true, false]);
  expect(results[2]).toEqual({ isAllowed: false, remaining: 0, resetSeconds: 10, retryAfterSeconds: 1 });
  expect(statements).toBe(1);
});

test('reports the remaining tokens and the time until the bucket is full', async () => {
  const result = await limiterOf(bucket(1, 3500))('ann');
  expect(result).toEqual({ isAllowed: true, remaining: 6, resetSeconds: 4, retryAfterSeconds: 0 });
});

test('a denied key is rejected without a statement until the next token', async () => {
  const take = limiterOf(bucket(0, 9500));
  expect((await take('ann'))?.isAllowed).toBe(false);
  now += 499;
  expect(await take('ann')).toMatchObject({ isAllowed: false, retryAfterSeconds: 1 });
  expect(statements).toBe(1);
  now += 1;
  await take('ann');
  expect(statements).toBe(2);
});

test('after a timeout requests pass unlimited for a while, then the database is queried again', async () => {
  const take = limiterOf(() => new Promise(() => {}));
  const waiting = [take('ann'), take('bob')];
  await vi.advanceTimersByTimeAsync(2000);
  expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
  expect(await take('ann')).toBeUndefined();
  expect([statements, errors]).toEqual([1, 1]);
  now += 1001;
  const again = take('ann');
  await vi.advanceTimersByTimeAsync(2000);
  expect(await again).toBeUndefined();
  expect(errors).toBe(2);
});
