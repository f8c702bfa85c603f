// Does the work on hosted videos that a process without their provider's settings left to others.
import type { findAssetById } from '../assets/asset-lookup.ts';
import type { JobPayloads } from '../jobs.ts';
import type { Bound } from '../platform/bind.ts';
import type { JobRun } from '../platform/jobs/job-queue.ts';
import type { protectVideo, removeVideo } from '../providers/hosted-videos.ts';
import type { removeOrphanedVideos } from './orphaned-videos.ts';
import type { reconcileAsset } from './reconcile.ts';

type TaskNeeds = {
  readonly findAssetById: Bound<typeof findAssetById>;
  readonly protectVideo: Bound<typeof protectVideo>;
  readonly removeVideo: Bound<typeof removeVideo>;
  readonly reconcileAsset: Bound<typeof reconcileAsset>;
  readonly removeOrphanedVideos: Bound<typeof removeOrphanedVideos>;
};

type Task = JobPayloads['provider-task'];

export const providerTaskJob =
  (needs: TaskNeeds) =>
  ({ payload: { task, assetId = '' } }: JobRun<Task>): Promise<void> =>
    TASKS[task](needs, assetId);

const TASKS: Readonly<Record<Task['task'], (needs: TaskNeeds, assetId: string) => Promise<void>>> = {
  inspect: (needs, assetId) => needs.reconcileAsset(assetId),
  protect: (needs, assetId) => needs.protectVideo(assetId),
  'remove-orphaned': (needs) => needs.removeOrphanedVideos(),
  remove: async (needs, assetId) => {
    const asset = await needs.findAssetById(assetId);
    if (asset) await needs.removeVideo(asset);
  },
};
