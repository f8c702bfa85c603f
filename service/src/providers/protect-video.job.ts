// Job that updates the access protection of a video at its hosted provider.
import type { Asset } from '../assets/asset.ts';
import type { JobPayloads } from '../jobs.ts';
import type { JobRun } from '../platform/jobs/job-queue.ts';

type ProtectNeeds = {
  readonly findAssetById: (id: string) => Promise<Asset | undefined>;
  readonly protect: (asset: Asset) => Promise<void>;
};

export const protectVideoJob =
  ({ findAssetById: byId, protect }: ProtectNeeds) =>
  async ({ payload }: JobRun<JobPayloads['protect-video']>): Promise<void> => {
    const asset = await byId(payload.assetId);
    if (asset && !asset.deleted_at) await protect(asset);
  };
