// Limits concurrent work in total and per key; work above a limit is rejected.
import { busy } from '../http/errors.ts';
import { createKeyedCounter } from './keyed-counter.ts';

/** Throws UNAVAILABLE `busy` when too much work runs, or too much for this key. */
export type ConcurrencyLimit = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export function createConcurrencyLimit({
  total,
  perKey,
}: {
  readonly total: number;
  readonly perKey: number;
}): ConcurrencyLimit {
  const running = createKeyedCounter();
  return async (key, work) => {
    if (running.total() >= total || running.of(key) >= perKey)
      throw busy('Too many requests for the same work are running. Retry later.');
    const remove = running.add(key);
    try {
      return await work();
    } finally {
      remove();
    }
  };
}
