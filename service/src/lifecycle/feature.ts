// Lifecycle: finds assets, and is the one writer that changes them.
import {
  createAssetLoader,
  findAssetById,
  findAssetForCaller,
  findErasableAssetForCaller,
  findPlaybackAsset,
  findTrashedAssetForCaller,
} from '../assets/asset-lookup.ts';
import { offer } from '../platform/values/offer.ts';
import { createAssetWatches } from './asset-changes.ts';
import { countAssetChange } from './asset-metrics.ts';
import type { LifecycleContext } from './context.ts';
import { removeDueObjects, removeUnlessDeferred } from './objects/deferred-removals.ts';
import { toMilestoneLines } from './decisions/milestones.ts';
import { createPlaybackAssetCache } from './playback-asset-cache.ts';
import { copyFile, removeFileCopies } from './objects/file-copy.ts';
import * as commands from './commands.ts';
import * as reports from './reports.ts';
import { restoreAsset } from './restored-assets.ts';
import { createAssetStore } from './store.ts';

export type Lifecycle = ReturnType<typeof createLifecycle>['operations'];

export function createLifecycle(outer: Omit<LifecycleContext, 'loader' | 'playbackAssets' | 'assets'>) {
  const loader = createAssetLoader(outer.db);
  const playbackAssets = createPlaybackAssetCache(loader.findForPlayback, outer.notifications);
  const assets = createAssetStore(
    { ...outer, loader },
    {
      onWritten: playbackAssets.invalidate,
      onChanged: (asset, write) => {
        for (const { level, facts, message } of toMilestoneLines(asset, write.decision.events, write.now))
          outer.log[level](facts, message);
        countAssetChange(outer, asset, write);
      },
    },
  );
  const ctx: LifecycleContext = { ...outer, loader, playbackAssets, assets };
  return {
    operations: {
      ...offer(ctx, {
        findAssetById,
        findAssetForCaller,
        findErasableAssetForCaller,
        findTrashedAssetForCaller,
        findPlaybackAsset,
        copyFile,
        removeFileCopies,
        removeUnlessDeferred,
        removeDueObjects,
        restoreAsset,
        ...commands,
        ...reports,
      }),
      isCurrentAsset: playbackAssets.isCurrent,
      findReportedAsset: loader.findReported,
      update: assets.update,
      assetStore: assets,
      ...createAssetWatches(outer.notifications),
    },
    routes: [],
    jobs: {},
  };
}
