// Runs concurrent requests for the same key once, with a limit on concurrent work.
import { unavailable } from '../http/errors.ts';

/** Throws UNAVAILABLE when work for `maxConcurrent` other keys is running. */
export type SingleFlight = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export function createSingleFlight({ maxConcurrent }: { readonly maxConcurrent: number }): SingleFlight {
  const flights = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const running = flights.get(key);
    // A key always has the same result type.
    if (running) return running as ReturnType<typeof work>;
    if (flights.size >= maxConcurrent)
      throw unavailable('Too many requests are being processed. Retry later.');
    const flight = work().finally(() => flights.delete(key));
    flights.set(key, flight);
    return flight;
  };
}
