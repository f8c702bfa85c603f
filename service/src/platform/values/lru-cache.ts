// Keeps the values that were used last, up to a total weight.

type LruCache<K, V> = {
  /** Counts as a use. */
  readonly get: (key: K) => V | undefined;
  /** Replaces the value of the key. Does not keep a value that is heavier than the whole cache. */
  readonly set: (key: K, value: V, weight: number) => void;
};

export function createLruCache<K, V>(maxWeight: number): LruCache<K, V> {
  /** The least recently used value first. */
  const entries = new Map<K, { readonly value: V; readonly weight: number }>();
  let total = 0;

  function remove(key: K): void {
    total -= entries.get(key)?.weight ?? 0;
    entries.delete(key);
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, weight) {
      remove(key);
      if (weight > maxWeight) return;
      entries.set(key, { value, weight });
      total += weight;
      for (const [oldest] of entries) {
        if (total <= maxWeight) return;
        remove(oldest);
      }
    },
  };
}
