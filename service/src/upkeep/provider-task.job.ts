// Does the work on hosted videos that a process without their provider's settings left to others.
import type { JobPayloads } from '../jobs.ts';
import type { JobRun } from '../platform/jobs/job-queue.ts';
import type { UpkeepContext } from './context.ts';
import { removeOrphanedVideos } from './orphaned-videos.ts';
import { reconcileAsset } from './reconcile.ts';

type Task = JobPayloads['provider-task'];

export const providerTaskJob =
  (ctx: UpkeepContext) =>
  ({ payload: { task, assetId = '' } }: JobRun<Task>): Promise<void> =>
    TASKS[task](ctx, assetId);

const TASKS: Readonly<Record<Task['task'], (ctx: UpkeepContext, assetId: string) => Promise<void>>> = {
  inspect: reconcileAsset,
  protect: ({ providers }, assetId) => providers.protectVideo(assetId),
  'remove-orphaned': removeOrphanedVideos,
  remove: async ({ lifecycle, providers }, assetId) => {
    const asset = await lifecycle.findAssetById(assetId);
    if (asset) await providers.removeVideo(asset);
  },
};
