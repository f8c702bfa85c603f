// Runs concurrent requests for the same key once, with limits on concurrent work in total and per owner.
import { busy } from '../http/errors.ts';
import { createKeyedCounter } from './keyed-counter.ts';

/** `item`: one of the owner's files, for which its others do not wait. */
type Claimant = { readonly owner: string; readonly item: string };

/**
 * Throws UNAVAILABLE `busy` when work for `maxConcurrent` other keys is running. An owner that has work in
 * flight gets no more of it in the last half of the places, and an item only in the first quarter.
 */
export type SingleFlight = <T>(key: string, work: () => Promise<T>, claimant?: Claimant) => Promise<T>;

export function createSingleFlight({ maxConcurrent }: { readonly maxConcurrent: number }): SingleFlight {
  const flights = new Map<string, Promise<unknown>>();
  const owners = createKeyedCounter();
  const items = createKeyedCounter();
  const maxFor = (claimant: Claimant | undefined): number => {
    if (!claimant) return maxConcurrent;
    if (items.of(claimant.item) > 0) return maxConcurrent / 4;
    return owners.of(claimant.owner) > 0 ? maxConcurrent / 2 : maxConcurrent;
  };
  return async (key, work, claimant) => {
    const running = flights.get(key);
    // A key always has the same result type.
    if (running) return running as ReturnType<typeof work>;
    if (owners.total() >= maxFor(claimant)) throw busy('Too many requests are being processed. Retry later.');
    const result = work();
    const releases = [owners.add(claimant?.owner), items.add(claimant?.item)];
    const flight = result.finally(() => {
      flights.delete(key);
      for (const release of releases) release();
    });
    flights.set(key, flight);
    return flight;
  };
}
