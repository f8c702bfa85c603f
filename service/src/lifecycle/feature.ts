// Lifecycle: finds assets, and is the one writer that changes them.
import type { AppContext } from '../app-context.ts';
import {
  createAssetLoader,
  findAssetById,
  findAssetForCaller,
  findErasableAssetForCaller,
  findPlaybackAsset,
  findTrashedAssetForCaller,
} from '../assets/asset-lookup.ts';
import { bind } from '../platform/bind.ts';
import { createKeyedMutex } from '../platform/concurrency/keyed-mutex.ts';
import { createAssetWatches } from './asset-changes.ts';
import { toMilestoneLines } from './milestones.ts';
import { createPlaybackAssetCache } from './playback-asset-cache.ts';
import * as removalOperations from './deferred-removals.ts';
import * as reportOperations from './reports.ts';
import { createAssetStore } from './store.ts';

export type Lifecycle = ReturnType<typeof createLifecycle>['operations'];

export function createLifecycle({ db, store, notifications, jobs, now, log, config }: AppContext) {
  const loader = createAssetLoader(db);
  const playbackAssets = createPlaybackAssetCache(loader.findForPlayback, notifications);
  const assetStore = createAssetStore({
    db,
    loader,
    jobs,
    now,
    graceDays: config.purgeGraceDays,
    runExclusive: createKeyedMutex(),
    onWritten: playbackAssets.invalidate,
    onChanged: (asset, write) => {
      for (const { level, facts, message } of toMilestoneLines(asset, write.decision.events, write.now))
        log[level](facts, message);
    },
  });
  return {
    operations: {
      ...bind(loader, {
        findAssetById,
        findAssetForCaller,
        findErasableAssetForCaller,
        findTrashedAssetForCaller,
      }),
      ...bind(playbackAssets, { findPlaybackAsset }),
      isCurrentAsset: playbackAssets.isCurrent,
      ...bind({ db, store: assetStore, now }, reportOperations),
      ...bind({ db, store, loader }, removalOperations),
      findReportedAsset: loader.findReported,
      update: assetStore.update,
      assetStore,
      ...createAssetWatches(notifications),
    },
    routes: [],
    jobs: {},
  };
}
