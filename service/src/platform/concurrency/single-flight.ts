// Runs concurrent requests for the same key once, with limits on concurrent work in total and per owner.
import { busy } from '../http/errors.ts';
import { createKeyedCounter } from './keyed-counter.ts';

/**
 * Throws UNAVAILABLE `busy` when work for `maxConcurrent` other keys is running. An owner that has work in
 * flight gets no more of it in the last half of the places.
 */
export type SingleFlight = <T>(key: string, work: () => Promise<T>, owner?: string) => Promise<T>;

export function createSingleFlight({ maxConcurrent }: { readonly maxConcurrent: number }): SingleFlight {
  const flights = new Map<string, Promise<unknown>>();
  const places = createKeyedCounter();
  const maxFor = (owner: string | undefined) =>
    owner !== undefined && places.of(owner) > 0 ? maxConcurrent / 2 : maxConcurrent;
  return async (key, work, owner) => {
    const running = flights.get(key);
    // A key always has the same result type.
    if (running) return running as ReturnType<typeof work>;
    if (places.total() >= maxFor(owner)) throw busy('Too many requests are being processed. Retry later.');
    const result = work();
    const release = places.add(owner);
    const flight = result.finally(() => {
      flights.delete(key);
      release();
    });
    flights.set(key, flight);
    return flight;
  };
}
