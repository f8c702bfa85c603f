// Tests that a lazy value is loaded once, and again after a failure.
import { expect, test, vi } from 'vitest';
import { createLazyValue } from './lazy-value.ts';

test('concurrent and later callers share one load', async () => {
  const load = vi.fn(async () => ({}));
  const get = createLazyValue(load);
  const [first, second] = await Promise.all([get(), get()]);
  expect(second).toBe(first);
  expect(await get()).toBe(first);
  expect(load).toHaveBeenCalledOnce();
});

test('a failed load is repeated by the next caller', async () => {
  const load = vi.fn(async () => 'value').mockRejectedValueOnce(new Error('too many open files'));
  const get = createLazyValue(load);
  const failed = await Promise.allSettled([get(), get()]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await get()).toBe('value');
  expect(load).toHaveBeenCalledTimes(2);
});
