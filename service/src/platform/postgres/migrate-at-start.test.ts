// Tests how long the start waits for the database, and for which errors.
import { expect, test } from 'vitest';
import { retryUntilAvailable } from './migrate-at-start.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

/** A step that fails with these errors, then succeeds; the clock stands still except in pauses. */
function attempt(errors: readonly Error[], timeoutMs = 60_000) {
  const left = [...errors];
  const pauses: number[] = [];
  let time = 0;
  const result = retryUntilAvailable(
    async () => {
      const error = left.shift();
      if (error) throw error;
      return 'started';
    },
    {
      timeoutMs,
      onRetry: (error, delayMs) => {
        expect(error).toBe(refused);
        pauses.push(delayMs);
      },
      now: () => time,
      pause: async (ms) => {
        time += ms;
      },
    },
  );
  return { result, pauses };
}

test('the step is repeated with growing pauses until the database is available', async () => {
  const { result, pauses } = attempt(Array(7).fill(refused));
  expect(await result).toBe('started');
  expect(pauses).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000]);
});

test('after the time limit the last error is the cause of one that names the setting', async () => {
  const { result, pauses } = attempt(Array(100).fill(refused), 3000);
  await expect(result).rejects.toMatchObject({
    message: expect.stringContaining('within 3 s (START_TIMEOUT_S)'),
    cause: refused,
  });
  expect(pauses).toEqual([250, 500, 1000]);
});

test('an error that stays is not repeated', async () => {
  const wrongPassword = Object.assign(new Error('password authentication failed'), { code: '28P01' });
  const { result, pauses } = attempt([wrongPassword]);
  await expect(result).rejects.toBe(wrongPassword);
  expect(pauses).toEqual([]);
});
