// A mutex per key within this process: prevents lost races for one row.
import { isUnavailable } from '../http/errors.ts';

/**
 * Runs `work` after all earlier work of the same key, whether that failed or not. UNAVAILABLE also fails all
 * waiting work of the key.
 */
type RunExclusive = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export function createKeyedMutex(): RunExclusive {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const previous = last.get(key);
    const current = previous
      ? previous.then(work, (error) => (isUnavailable(error) ? Promise.reject(error) : work()))
      : work();
    last.set(key, current);
    const release = () => {
      if (last.get(key) === current) last.delete(key);
    };
    current.then(release, release);
    return current;
  };
}
