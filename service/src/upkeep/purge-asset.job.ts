// Removes the bytes that an asset may no longer have: all of a purged one, else every upload that is not its original.
import type { Asset } from '../assets/asset.ts';
import type { JobPayloads } from '../jobs.ts';
import type { JobRun } from '../platform/job-queue.ts';
import { assetPrefixes, type ObjectKey, originalPrefix } from '../storage/object-key.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { isOrphanedUpload, isPurged, nameOf } from './orphan.ts';

export type PurgeNeeds = {
  readonly findAssetById: (id: string) => Promise<Asset | undefined>;
  readonly store: ObjectStore;
  /** The copy of a hosted provider. */
  readonly removeVideo: (asset: Asset) => Promise<void>;
};

export const purgeAssetJob =
  (needs: PurgeNeeds) =>
  async ({ payload: { assetId } }: JobRun<JobPayloads['purge-asset']>): Promise<void> => {
    const { findAssetById: byId, store, removeVideo } = needs;
    const asset = await byId(assetId);
    if (!asset) return;
    if (isPurged(asset)) for (const prefix of assetPrefixes(asset.id)) await store.removeAll(prefix);
    else await removeOrphanedUploads(needs, asset.id);
    if (isPurged(asset) || asset.refused) await removeVideo(asset);
  };

/** The row is read after the keys, so that an upload that finishes meanwhile is seen. */
async function removeOrphanedUploads(
  { findAssetById: byId, store }: PurgeNeeds,
  assetId: string,
): Promise<void> {
  const keys: ObjectKey[] = [];
  for await (const key of store.list(originalPrefix(assetId))) keys.push(key);
  const asset = await byId(assetId);
  if (!asset) return;
  for (const key of keys) if (isOrphanedUpload(nameOf(key), asset)) await store.remove(key);
}
