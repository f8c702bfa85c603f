// Counts what is in progress, in total and per key.

type KeyedCounter = {
  readonly total: () => number;
  readonly of: (key: string) => number;
  /** Returns the function that removes it, once. `key` undefined: counts in the total only. */
  readonly add: (key: string | undefined) => () => void;
};

export function createKeyedCounter(): KeyedCounter {
  const counts = new Map<string, number>();
  let total = 0;
  const change = (key: string | undefined, by: 1 | -1) => {
    total += by;
    if (key === undefined) return;
    const count = (counts.get(key) ?? 0) + by;
    if (count === 0) counts.delete(key);
    else counts.set(key, count);
  };
  return {
    total: () => total,
    of: (key) => counts.get(key) ?? 0,
    add: (key) => {
      change(key, 1);
      let isRemoved = false;
      return () => {
        if (!isRemoved) change(key, -1);
        isRemoved = true;
      };
    },
  };
}
