// The long poll of an asset: waits until it differs from the version that the caller has (contract B8).
import { type Caller, limitKeyOf } from '../auth/caller.ts';
import type { Asset } from '../assets/asset.ts';
import type { LongPollContext } from '../platform/http/route.ts';
import type { LibraryContext } from './context.ts';

type LongPoll = {
  readonly asset: Pick<Asset, 'id'>;
  readonly caller: Caller;
  readonly query: { readonly wait?: number };
};

/** False if nothing changed within `wait` seconds, or if the service stops. */
export async function waitForChange(
  { lifecycle, callerLimits: { heldRequests } }: LibraryContext,
  { asset, caller, query: { wait } }: LongPoll,
  { hasChanged, signal }: LongPollContext,
): Promise<boolean> {
  if (wait === undefined || signal.aborted) return false;
  const release = heldRequests.hold(limitKeyOf(caller));
  const watch = lifecycle.watchAsset(asset.id);
  signal.addEventListener('abort', watch.close);
  const deadline = performance.now() + wait * 1000;
  try {
    for (;;) {
      if (await hasChanged()) return true;
      const remaining = deadline - performance.now();
      if (remaining <= 0 || !watch.isOpen()) return false;
      await watch.wait(remaining);
    }
  } finally {
    watch.close();
    release();
  }
}
