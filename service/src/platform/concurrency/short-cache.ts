// Caches loaded values for a short time, so that many requests for the same one share a read.

type ShortCacheOptions<T> = {
  readonly load: (key: string) => Promise<T | undefined>;
  readonly maxAgeMs: number;
  readonly maxEntries: number;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
};

type ShortCache<T> = {
  readonly get: (key: string) => Promise<T | undefined>;
  /** The cached value; undefined while it loads, or when it is too old. */
  readonly peek: (key: string) => T | undefined;
  /** The next `get` loads the value again; undefined: the value of every key. */
  readonly invalidate: (key: string | undefined) => void;
};

/** `until` counts from the start of the load. */
type Entry<T> = { readonly value: Promise<T | undefined>; readonly until: number; loaded?: T };

/** Does not cache missing values or failures. */
export function createShortCache<T>({
  load,
  maxAgeMs,
  maxEntries,
  now = () => performance.now(),
}: ShortCacheOptions<T>): ShortCache<T> {
  /** In the order of their age. */
  const entries = new Map<string, Entry<T>>();

  function removeOld(time: number): void {
    for (const [key, { until }] of entries) {
      if (until > time && entries.size < maxEntries) return;
      entries.delete(key);
    }
  }

  /** The entry exists before the load, so that `invalidate` also ends a load that may read the old value. */
  function loadEntry(key: string, time: number): Promise<T | undefined> {
    entries.delete(key);
    removeOld(time);
    const value = load(key);
    const entry: Entry<T> = { value, until: time + maxAgeMs };
    entries.set(key, entry);
    const drop = () => {
      if (entries.get(key) === entry) entries.delete(key);
    };
    value.then((loaded) => {
      if (loaded === undefined) drop();
      else entry.loaded = loaded;
    }, drop);
    return value;
  }

  return {
    get: (key) => {
      const time = now();
      const entry = entries.get(key);
      return entry && entry.until > time ? entry.value : loadEntry(key, time);
    },
    peek: (key) => {
      const entry = entries.get(key);
      return entry && entry.until > now() ? entry.loaded : undefined;
    },
    invalidate: (key) => {
      if (key === undefined) entries.clear();
      else entries.delete(key);
    },
  };
}
