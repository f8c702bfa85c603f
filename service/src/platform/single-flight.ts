// Work that several ask for at once is done once, and only so much of it is under way.
import { unavailable } from './errors.ts';

/** Fails with UNAVAILABLE where `most` other pieces of work are under way. */
export type SingleFlight = (name: string, work: () => Promise<void>) => Promise<void>;

export function singleFlight({ most }: { readonly most: number }): SingleFlight {
  const flights = new Map<string, Promise<void>>();
  return async (name, work) => {
    const known = flights.get(name);
    if (known) return known;
    if (flights.size >= most) throw unavailable('Too much is asked for at this moment');
    const flight = work().finally(() => flights.delete(name));
    flights.set(name, flight);
    return flight;
  };
}
