// Caches the assets that players request for a second, or until they change (contract B5).
import type { PlaybackAsset } from '../assets/asset.ts';
import { createShortCache } from '../platform/concurrency/short-cache.ts';
import type { Notifications } from '../platform/postgres/notifications.ts';

/** How long players may be served after another process changed an asset, if its notification is lost. */
const MAX_AGE_MS = 1000;
const MAX_ENTRIES = 10_000;

type FindPlaybackAsset = (id: string) => Promise<PlaybackAsset | undefined>;

export type PlaybackAssetCache = {
  readonly findForPlayback: FindPlaybackAsset;
  /** False from the moment when the asset may have changed. `asset` is a result of `findForPlayback`. */
  readonly isCurrent: (asset: PlaybackAsset) => boolean;
  /** After a change in this process. Others learn of it by a notification. */
  readonly invalidate: (id: string) => void;
};

export function createPlaybackAssetCache(
  find: FindPlaybackAsset,
  { subscribe }: Pick<Notifications, 'subscribe'>,
): PlaybackAssetCache {
  const cache = createShortCache({ load: find, maxAgeMs: MAX_AGE_MS, maxEntries: MAX_ENTRIES });
  let isSubscribed = false;
  return {
    invalidate: cache.invalidate,
    isCurrent: (asset) => cache.peek(asset.id) === asset,
    findForPlayback: (id) => {
      // Processes that serve no players do not listen.
      if (!isSubscribed) subscribe(cache.invalidate);
      isSubscribed = true;
      return cache.get(id.toLowerCase());
    },
  };
}
