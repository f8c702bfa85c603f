// Tests how long a loaded value is cached, and that a change ends it at once.
import { expect, test } from 'vitest';
import { createShortCache } from './short-cache.ts';

function openCache(maxEntries = 10) {
  const source = new Map([['a', 1]]);
  const loads: string[] = [];
  let time = 0;
  const cache = createShortCache({
    load: async (key) => {
      loads.push(key);
      return source.get(key);
    },
    maxAgeMs: 1000,
    maxEntries,
    now: () => time,
  });
  return {
    ...cache,
    source,
    loads,
    wait: (ms: number) => {
      time += ms;
    },
  };
}

test('a value is loaded once in its time, also by concurrent requests', async () => {
  const { get, loads, wait } = openCache();
  expect(await Promise.all([get('a'), get('a')])).toEqual([1, 1]);
  wait(999);
  expect(await get('a')).toBe(1);
  expect(loads).toEqual(['a']);
  wait(1);
  await get('a');
  expect(loads).toEqual(['a', 'a']);
});

test('a forgotten value is loaded again, also when its load has not ended', async () => {
  const { get, invalidate, source } = openCache();
  const loading = get('a');
  source.set('a', 2);
  invalidate('a');
  expect([await loading, await get('a')]).toEqual([1, 2]);
  source.set('a', 3);
  invalidate(undefined);
  expect(await get('a')).toBe(3);
});

test('missing values and failures are not cached', async () => {
  const { get, source } = openCache();
  expect(await get('b')).toBeUndefined();
  source.set('b', 1);
  expect(await get('b')).toBe(1);
  let attempts = 0;
  const failing = createShortCache({
    load: () => Promise.reject(new Error(`${++attempts}`)),
    maxAgeMs: 1000,
    maxEntries: 1,
  });
  await expect(failing.get('a')).rejects.toThrow('1');
  await expect(failing.get('a')).rejects.toThrow('2');
});

test('the oldest value makes room for another one', async () => {
  const { get, loads, source } = openCache(2);
  for (const key of ['a', 'b', 'c']) source.set(key, 0);
  for (const key of ['a', 'b', 'c', 'c', 'b', 'a']) await get(key);
  expect(loads).toEqual(['a', 'b', 'c', 'a']);
});
