// Tests the limits of concurrent work in total and per key.
import { expect, test } from 'vitest';
import { createConcurrencyLimit } from './concurrency-limit.ts';

const BUSY = { code: 'UNAVAILABLE', details: { reason: 'busy' } };

function createWork() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return { work: () => promise, resolve, reject };
}

test('work above the limit of its key is rejected until other work of the key has ended', async () => {
  const limit = createConcurrencyLimit({ total: 10, perKey: 1 });
  const first = createWork();
  const running = limit('ann', first.work);
  await expect(limit('ann', async () => 'second')).rejects.toMatchObject(BUSY);
  expect(await limit('bob', async () => 'other')).toBe('other');
  first.resolve('first');
  expect(await running).toBe('first');
  expect(await limit('ann', async () => 'third')).toBe('third');
});

test('work above the total limit is rejected, whatever its key, and failed work frees its place', async () => {
  const limit = createConcurrencyLimit({ total: 1, perKey: 1 });
  const first = createWork();
  const running = limit('ann', first.work);
  await expect(limit('bob', async () => 'second')).rejects.toMatchObject(BUSY);
  first.reject(new Error('failed'));
  await expect(running).rejects.toThrow('failed');
  expect(await limit('bob', async () => 'third')).toBe('third');
});
