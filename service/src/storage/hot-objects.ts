// Keeps the small objects that are read most in memory, up to a number of bytes.
import type { ObjectKey } from './object-key.ts';
import type { ReadObject } from './object-store.ts';

type Found = ReadObject | undefined;

export type HotObjects = {
  /**
   * The object in memory. `read` loads it on its second use, once for concurrent requests. Undefined: it is
   * not in memory, and this request does not load it.
   */
  find(key: ObjectKey, read: () => Promise<Found>): Found | Promise<Found>;
  /** The object if it is in memory; counts as a use. */
  findKept(key: ObjectKey): Found;
};

/** Estimated memory of an entry besides its bytes. */
const OVERHEAD_BYTES = 512;
/** Keys that were used once; the older half is forgotten when the newer one is full. */
const MAX_USED_ONCE = 10_000;

/** Only for objects whose bytes never change under their key. */
export function openHotObjects(maxBytes: number): HotObjects {
  /** The least recently used object first. */
  const kept = new Map<ObjectKey, ReadObject>();
  const loading = new Map<ObjectKey, Promise<Found>>();
  let usedOnce = new Set<ObjectKey>();
  let usedBefore = new Set<ObjectKey>();
  let bytes = 0;

  function isUsedAgain(key: ObjectKey): boolean {
    if (usedOnce.has(key) || usedBefore.has(key)) return true;
    if (usedOnce.size >= MAX_USED_ONCE) [usedBefore, usedOnce] = [usedOnce, new Set()];
    usedOnce.add(key);
    return false;
  }

  function keep(key: ObjectKey, object: Found): Found {
    // A large object has no bytes here. It is kept as its size.
    if (!object || sizeOf(object) > maxBytes) return object;
    kept.set(key, withOwnMemory(object));
    bytes += sizeOf(object);
    for (const [oldest, removed] of kept) {
      if (bytes <= maxBytes) break;
      kept.delete(oldest);
      bytes -= sizeOf(removed);
    }
    return object;
  }

  function load(key: ObjectKey, read: () => Promise<Found>): Promise<Found> {
    const flight = read()
      .then((object) => keep(key, object))
      .finally(() => loading.delete(key));
    loading.set(key, flight);
    return flight;
  }

  function findKept(key: ObjectKey): Found {
    const object = kept.get(key);
    if (!object) return undefined;
    kept.delete(key);
    kept.set(key, object);
    return object;
  }

  return {
    findKept,
    find(key, read) {
      const object = findKept(key);
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
