// Removes the bytes that an asset may no longer have: all of a deleted one, the original of a refused one, whatever was reported of it since.
import type { Asset } from '../assets/asset.ts';
import type { JobPayloads } from '../job-list.ts';
import type { JobRun } from '../platform/jobs.ts';
import { assetPrefixes, type ObjectKey, originalPrefix } from '../storage/object-key.ts';
import type { ObjectStore } from '../storage/object-store.ts';

export type PurgeNeeds = {
  readonly byId: (id: string) => Promise<Asset | undefined>;
  readonly store: ObjectStore;
  /** The copy of a hosted provider. */
  readonly removeVideo: (asset: Asset) => Promise<void>;
};

export const purgeAssetJob =
  ({ byId, store, removeVideo }: PurgeNeeds) =>
  async ({ payload }: JobRun<JobPayloads['purge-asset']>): Promise<void> => {
    const asset = await byId(payload.assetId);
    for (const prefix of asset ? forbiddenTo(asset) : []) await store.removeAll(prefix);
    if (asset && (asset.deleted_at || asset.refused)) await removeVideo(asset);
  };

function forbiddenTo(asset: Asset): ObjectKey[] {
  if (asset.deleted_at) return assetPrefixes(asset.id);
  return asset.refused || !asset.uploaded_at ? [originalPrefix(asset.id)] : [];
}
