// Tests that the values used last are kept, within the weight.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLruCache } from './lru-cache.ts';

test('the least recently used value makes room', () => {
  const cache = createLruCache<string, number>(2);
  cache.set('a', 1, 1);
  cache.set('b', 2, 1);
  expect(cache.get('a')).toBe(1);
  cache.set('c', 3, 1);
  expect(['a', 'b', 'c'].map(cache.get)).toEqual([1, undefined, 3]);
});

test('a value that is heavier than the cache is not kept, and replaces the earlier one', () => {
  const cache = createLruCache<string, number>(2);
  cache.set('a', 1, 1);
  cache.set('b', 2, 1);
  cache.set('a', 3, 3);
  expect(['a', 'b'].map(cache.get)).toEqual([undefined, 2]);
});

test('after any writes, the kept values are the last ones that fit', () => {
  const write = fc.record({ key: fc.integer({ min: 0, max: 5 }), weight: fc.integer({ min: 0, max: 12 }) });
  fc.assert(
    fc.property(fc.array(write), (writes) => {
      const cache = createLruCache<number, number>(10);
      for (const [index, { key, weight }] of writes.entries()) cache.set(key, index, weight);
      const last = new Map(writes.map(({ key }, index) => [key, index]));
      const kept = [...last].filter(([key, index]) => cache.get(key) === index).map(([, index]) => index);
      const total = kept.reduce((sum, index) => sum + (writes[index]?.weight ?? 0), 0);
      expect(total).toBeLessThanOrEqual(10);
      // The last write is kept whenever it fits at all.
      const [newest] = writes.slice(-1);
      expect(kept.includes(writes.length - 1)).toBe(newest !== undefined && newest.weight <= 10);
    }),
  );
});
