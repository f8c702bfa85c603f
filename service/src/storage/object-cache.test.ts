// Tests which objects are cached, and that their bytes never exceed the budget.
import { expect, test } from 'vitest';
import { createObjectCache } from './object-cache.ts';
import type { ObjectKey } from './object-key.ts';

const KIB = 1024;

/** A store that counts reads; objects have the length that their key names. */
function openCounted(maxBytes: number) {
  const objects = createObjectCache(maxBytes);
  const reads: string[] = [];
  const use = async (key: string) => {
    const found = await objects.find(key as ObjectKey, async () => {
      reads.push(key);
      const sizeBytes = Number(/\d+/.exec(key)?.[0]);
      return sizeBytes > KIB * KIB ? { sizeBytes } : { sizeBytes, bytes: Buffer.alloc(sizeBytes, key) };
    });
    return found?.bytes?.byteLength;
  };
  return { use, reads };
}

test('an object is loaded on its second use, and once', async () => {
  const { use, reads } = openCounted(KIB * KIB);
  expect([await use('a 1000'), reads]).toEqual([undefined, []]);
  expect(await Promise.all([use('a 1000'), use('a 1000')])).toEqual([1000, 1000]);
  expect(await use('a 1000')).toBe(1000);
  expect(reads).toEqual(['a 1000']);
});

test('the object that was not used for longest makes room', async () => {
  const { use, reads } = openCounted(100 * KIB);
  for (const key of ['a 40000', 'b 40000']) for (let n = 0; n < 2; n++) await use(key);
  await use('a 40000');
  for (let n = 0; n < 2; n++) await use('c 40000');
  expect(await use('a 40000')).toBe(40_000);
  expect(reads).toHaveLength(3);
  await use('b 40000');
  expect(reads).toEqual(['a 40000', 'b 40000', 'c 40000', 'b 40000']);
});

test('an object larger than the budget is not cached, and of a large object only its size', async () => {
  const { use, reads } = openCounted(10 * KIB);
  for (let n = 0; n < 3; n++) await use('a 20000');
  expect(reads).toEqual(['a 20000', 'a 20000']);
  for (let n = 0; n < 4; n++) await use('b 9000000');
  expect(reads.slice(2)).toEqual(['b 9000000']);
});

test('nothing is loaded without a budget, and a failure is not cached', async () => {
  const { use, reads } = openCounted(0);
  for (let n = 0; n < 3; n++) expect(await use('a 10')).toBeUndefined();
  expect(reads).toEqual([]);
  const objects = createObjectCache(KIB);
  const read = () => Promise.reject(new Error('the store is away'));
  expect(objects.find('k' as ObjectKey, read)).toBeUndefined();
  await expect(objects.find('k' as ObjectKey, read)).rejects.toThrow('away');
  await expect(objects.find('k' as ObjectKey, read)).rejects.toThrow('away');
});
