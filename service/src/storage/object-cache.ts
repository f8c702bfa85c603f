// Caches the small objects that are read most in memory, up to a number of bytes.
import { createLruCache } from '../platform/values/lru-cache.ts';
import type { ObjectKey } from './object-key.ts';
import type { ReadObject } from './object-store.ts';

type Found = ReadObject | undefined;

export type ObjectCache = {
  /**
   * The object in memory. `read` loads it on its second use, once for concurrent requests. Undefined: it is
   * not in memory, and this request does not load it.
   */
  find(key: ObjectKey, read: () => Promise<Found>): Found | Promise<Found>;
  /** The object if it is in memory; counts as a use. */
  findCached(key: ObjectKey): Found;
};

/** Estimated memory of an entry besides its bytes. */
const OVERHEAD_BYTES = 512;
/** Keys that were used once; the older half is dropped when the newer one is full. */
const MAX_USED_ONCE = 10_000;

/** Only for objects whose bytes never change under their key. */
export function createObjectCache(maxBytes: number): ObjectCache {
  const objects = createLruCache<ObjectKey, ReadObject>(maxBytes);
  const loading = new Map<ObjectKey, Promise<Found>>();
  let usedOnce = new Set<ObjectKey>();
  let usedBefore = new Set<ObjectKey>();

  function isUsedAgain(key: ObjectKey): boolean {
    if (usedOnce.has(key) || usedBefore.has(key)) return true;
    if (usedOnce.size >= MAX_USED_ONCE) [usedBefore, usedOnce] = [usedOnce, new Set()];
    usedOnce.add(key);
    return false;
  }

  /** A large object has no bytes here. Its size is cached. */
  function add(key: ObjectKey, object: Found): Found {
    if (object) objects.set(key, withOwnMemory(object), sizeOf(object));
    return object;
  }

  function load(key: ObjectKey, read: () => Promise<Found>): Promise<Found> {
    const flight = read()
      .then((object) => add(key, object))
      .finally(() => loading.delete(key));
    loading.set(key, flight);
    return flight;
  }

  return {
    findCached: objects.get,
    find(key, read) {
      const object = objects.get(key);
      if (object) return object;
      if (maxBytes === 0) return undefined;
      return loading.get(key) ?? (isUsedAgain(key) ? load(key, read) : undefined);
    },
  };
}

/** Node takes small buffers from a shared block, which would stay in memory as a whole. */
function withOwnMemory({ sizeBytes, bytes }: ReadObject): ReadObject {
  if (!bytes || bytes.buffer.byteLength === bytes.byteLength) return { sizeBytes, ...(bytes && { bytes }) };
  const own = Buffer.allocUnsafeSlow(bytes.byteLength);
  own.set(bytes);
  return { sizeBytes, bytes: own };
}

const sizeOf = ({ bytes }: ReadObject): number => (bytes?.byteLength ?? 0) + OVERHEAD_BYTES;
