// Work that several ask for at once is done once, and only so much of it is under way.
import { unavailable } from '../errors.ts';

/** Fails with UNAVAILABLE where `most` other pieces of work are under way. */
export type SingleFlight = <T>(name: string, work: () => Promise<T>) => Promise<T>;

export function createSingleFlight({ most }: { readonly most: number }): SingleFlight {
  const flights = new Map<string, Promise<unknown>>();
  return async (name, work) => {
    const known = flights.get(name);
    // One name always stands for one kind of work.
    if (known) return known as ReturnType<typeof work>;
    if (flights.size >= most) throw unavailable('Too much is asked for at this moment');
    const flight = work().finally(() => flights.delete(name));
    flights.set(name, flight);
    return flight;
  };
}
