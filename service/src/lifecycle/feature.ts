// Lifecycle: finds assets, and is the one writer that changes them.
import type { AppContext } from '../app-context.ts';
import type { PlayedAsset } from '../assets/asset.ts';
import {
  createAssetLoader,
  findAssetById,
  findAssetForCaller,
  findPlayedAsset,
  findTrashedAssetForCaller,
} from '../assets/asset-lookup.ts';
import { bind } from '../platform/bind.ts';
import { createKeyedMutex } from '../platform/concurrency/keyed-mutex.ts';
import { createShortCache } from '../platform/concurrency/short-cache.ts';
import type { Notifications } from '../platform/postgres/notifications.ts';
import { createAssetWatches } from './asset-changes.ts';
import * as reportOperations from './reports.ts';
import { createAssetStore } from './store.ts';

export type Lifecycle = ReturnType<typeof createLifecycle>['operations'];

export function createLifecycle({ db, notifications, jobs, now }: AppContext) {
  const loader = createAssetLoader(db);
  const played = cachePlayedAssets(loader.findPlayed, notifications);
  const assetStore = createAssetStore({
    db,
    loader,
    jobs,
    now,
    runExclusive: createKeyedMutex(),
    onWritten: played.forget,
  });
  return {
    operations: {
      ...bind(loader, { findAssetById, findAssetForCaller, findTrashedAssetForCaller }),
      ...bind(played, { findPlayedAsset }),
      ...bind({ db, store: assetStore, now }, reportOperations),
      findReportedAsset: loader.findReported,
      update: assetStore.update,
      assetStore,
      ...createAssetWatches(notifications),
    },
    routes: [],
    jobs: {},
  };
}

/** How long players may be served after another process changed an asset, if its notification is lost. */
const MAX_AGE_MS = 1000;
const MAX_ENTRIES = 10_000;

/** A change in this process ends an entry at once, one in another process when its notification arrives. */
function cachePlayedAssets(
  findPlayed: (id: string) => Promise<PlayedAsset | undefined>,
  { subscribe }: Pick<Notifications, 'subscribe'>,
) {
  const cache = createShortCache({ load: findPlayed, maxAgeMs: MAX_AGE_MS, maxEntries: MAX_ENTRIES });
  let isSubscribed = false;
  return {
    forget: cache.forget,
    findPlayed: (id: string) => {
      // Processes that serve no players do not listen.
      if (!isSubscribed) subscribe(cache.forget);
      isSubscribed = true;
      return cache.get(id.toLowerCase());
    },
  };
}
