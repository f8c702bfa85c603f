// Waits for the next change of an asset, by the notifications that the store sends (contract B8, long poll).
import { createWakeSignal, type WakeSignal } from '../platform/concurrency/wake-signal.ts';
import type { Notifications } from '../platform/postgres/notifications.ts';

type AssetWatch = Pick<WakeSignal, 'wait'> & {
  readonly isOpen: () => boolean;
  /** Ends the wait too. */
  readonly close: () => void;
};

/** Watch before the asset is read: a change between the two ends the wait at once. */
type WatchAsset = (assetId: string) => AssetWatch;

type AssetWatches = {
  readonly watchAsset: WatchAsset;
  /** When the service stops. */
  readonly closeWatches: () => void;
};

export function createAssetWatches({ subscribe }: Pick<Notifications, 'subscribe'>): AssetWatches {
  const watches = new Map<string, Set<WakeSignal>>();
  let unsubscribe: (() => void) | undefined;
  const wakeWatches = (assetId: string | undefined) => {
    // Without an id notifications may have been missed, so that any asset may have changed.
    const woken = assetId === undefined ? [...watches.values()] : [watches.get(assetId) ?? []];
    for (const signals of woken) for (const signal of signals) signal.wake();
  };
  const remove = (assetId: string, signal: WakeSignal) => {
    const signals = watches.get(assetId);
    if (signals?.delete(signal) && signals.size === 0) watches.delete(assetId);
    signal.wake();
    if (watches.size > 0) return;
    unsubscribe?.();
    unsubscribe = undefined;
  };
  const watchAsset: WatchAsset = (assetId) => {
    const signal = createWakeSignal();
    watches.set(assetId, (watches.get(assetId) ?? new Set()).add(signal));
    unsubscribe ??= subscribe(wakeWatches);
    return {
      wait: signal.wait,
      isOpen: () => watches.get(assetId)?.has(signal) === true,
      close: () => remove(assetId, signal),
    };
  };
  return {
    watchAsset,
    closeWatches: () => {
      for (const [assetId, signals] of watches) for (const signal of signals) remove(assetId, signal);
    },
  };
}
