// Limits concurrent work in total and per key; work above a limit is rejected.
import { ServiceError } from '../errors.ts';

/** Throws UNAVAILABLE `busy` when too much work runs, or too much for this key. */
export type ConcurrencyLimit = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export function createConcurrencyLimit({
  total,
  perKey,
}: {
  readonly total: number;
  readonly perKey: number;
}): ConcurrencyLimit {
  const running = new Map<string, number>();
  let runningTotal = 0;
  const add = (key: string, change: 1 | -1) => {
    runningTotal += change;
    const count = (running.get(key) ?? 0) + change;
    if (count === 0) running.delete(key);
    else running.set(key, count);
  };
  return async (key, work) => {
    if (runningTotal >= total || (running.get(key) ?? 0) >= perKey) throw busy();
    add(key, 1);
    try {
      return await work();
    } finally {
      add(key, -1);
    }
  };
}

const busy = () =>
  new ServiceError('UNAVAILABLE', 'Too many requests for the same work are running. Retry later.', {
    details: { reason: 'busy' },
  });
