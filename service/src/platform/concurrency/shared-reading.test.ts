// A reading that all who ask within a time share.
import { expect, test } from 'vitest';
import { shareReading } from './shared-reading.ts';

function createReading(lastsMs: number, fails = false) {
  const state = { time: 0, count: 0 };
  const get = shareReading({
    read: async () => {
      state.count += 1;
      await undefined;
      state.time += lastsMs;
      if (fails) throw new Error('unavailable');
      return state.count;
    },
    minAgeMs: 1000,
    maxShare: 0.01,
    now: () => state.time,
  });
  return { state, get };
}

test('concurrent and later callers share a reading until it is too old', async () => {
  const { state, get } = createReading(5);
  expect(await Promise.all([get(), get()])).toEqual([1, 1]);
  state.time = 1004;
  expect(await get()).toBe(1);
  state.time = 1005;
  expect(await get()).toBe(2);
});

test('a slow reading is kept longer', async () => {
  const { state, get } = createReading(50);
  await get();
  state.time = 5049;
  expect(await get()).toBe(1);
  state.time = 5050;
  expect(await get()).toBe(2);
});

test('a failure is kept too', async () => {
  const { state, get } = createReading(5, true);
  await expect(get()).rejects.toThrow('unavailable');
  await expect(get()).rejects.toThrow('unavailable');
  expect(state.count).toBe(1);
  state.time = 1005;
  await expect(get()).rejects.toThrow('unavailable');
  expect(state.count).toBe(2);
});
