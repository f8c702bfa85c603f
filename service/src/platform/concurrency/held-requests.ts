// Limits requests that stay open for long, such as event streams, in total and per caller.
import { ServiceError } from '../errors.ts';

export type HeldRequests = {
  /**
   * Returns the function that ends the request's share. `caller` undefined: only the total is limited. Throws
   * RATE_LIMITED `too_many_streams` or UNAVAILABLE `busy`.
   */
  readonly hold: (caller: string | undefined) => () => void;
};

type Limits = { readonly total: number; readonly perCaller: number };

export function createHeldRequests({ total, perCaller }: Limits): HeldRequests {
  const held = new Map<string, number>();
  let heldTotal = 0;
  const change = (caller: string | undefined, by: 1 | -1) => {
    heldTotal += by;
    if (caller === undefined) return;
    const count = (held.get(caller) ?? 0) + by;
    if (count === 0) held.delete(caller);
    else held.set(caller, count);
  };
  return {
    hold: (caller) => {
      if (caller !== undefined && (held.get(caller) ?? 0) >= perCaller) throw tooMany(perCaller);
      if (heldTotal >= total) throw busy();
      change(caller, 1);
      let isReleased = false;
      return () => {
        if (!isReleased) change(caller, -1);
        isReleased = true;
      };
    },
  };
}

const tooMany = (limit: number) =>
  new ServiceError('RATE_LIMITED', `At most ${limit} event streams and long polls may be open at once.`, {
    details: { reason: 'too_many_streams', limit },
  });

const busy = () =>
  new ServiceError('UNAVAILABLE', 'Too many event streams are open at this process. Retry later.', {
    details: { reason: 'busy' },
  });
