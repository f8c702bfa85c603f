// Keeps the assets that players request for a second, and ends that when they change (contract B5).
import type { PlayedAsset } from '../assets/asset.ts';
import { createShortCache } from '../platform/concurrency/short-cache.ts';
import type { Notifications } from '../platform/postgres/notifications.ts';

/** How long players may be served after another process changed an asset, if its notification is lost. */
const MAX_AGE_MS = 1000;
const MAX_ENTRIES = 10_000;

type FindPlayed = (id: string) => Promise<PlayedAsset | undefined>;

type PlayedAssets = {
  readonly findPlayed: FindPlayed;
  /** False from the moment when the asset may have changed. `asset` is a result of `findPlayed`. */
  readonly isCurrent: (asset: PlayedAsset) => boolean;
  /** After a change in this process. Others learn of it by a notification. */
  readonly forget: (id: string) => void;
};

export function cachePlayedAssets(
  find: FindPlayed,
  { subscribe }: Pick<Notifications, 'subscribe'>,
): PlayedAssets {
  const cache = createShortCache({ load: find, maxAgeMs: MAX_AGE_MS, maxEntries: MAX_ENTRIES });
  let isSubscribed = false;
  return {
    forget: cache.forget,
    isCurrent: (asset) => cache.peek(asset.id) === asset,
    findPlayed: (id) => {
      // Processes that serve no players do not listen.
      if (!isSubscribed) subscribe(cache.forget);
      isSubscribed = true;
      return cache.get(id.toLowerCase());
    },
  };
}
