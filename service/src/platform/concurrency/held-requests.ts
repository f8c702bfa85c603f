// Limits requests that stay open for long, such as event streams, in total and per caller.
import { busy, ServiceError } from '../http/errors.ts';
import { createKeyedCounter } from './keyed-counter.ts';

export type HeldRequests = {
  /**
   * Returns the function that ends the request's share. `caller` undefined: only the total is limited. Throws
   * RATE_LIMITED `too_many_streams` or UNAVAILABLE `busy`.
   */
  readonly hold: (caller: string | undefined) => () => void;
};

type HeldLimits = { readonly total: number; readonly perCaller: number };

export function createHeldRequests({ total, perCaller }: HeldLimits): HeldRequests {
  const held = createKeyedCounter();
  return {
    hold: (caller) => {
      if (caller !== undefined && held.of(caller) >= perCaller) throw tooMany(perCaller);
      if (held.total() >= total) throw busy('Too many event streams are open at this process. Retry later.');
      return held.add(caller);
    },
  };
}

const tooMany = (limit: number) =>
  new ServiceError('RATE_LIMITED', `At most ${limit} event streams and long polls may be open at once.`, {
    details: { reason: 'too_many_streams', limit },
  });
