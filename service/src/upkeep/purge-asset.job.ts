// Removes all objects of a purged asset; of other assets, every upload that is not the original.
import type { Asset } from '../assets/asset.ts';
import type { findAssetById } from '../assets/asset-lookup.ts';
import type { JobPayloads } from '../jobs.ts';
import type { Bound } from '../platform/bind.ts';
import type { JobRun } from '../platform/jobs/job-queue.ts';
import type { removeVideo } from '../providers/hosted-videos.ts';
import { assetPrefixes, type ObjectKey, originalPrefix } from '../storage/object-key.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { discardClosedUploads } from '../uploads/expired-uploads.ts';
import { isOrphanedUpload, isPurged, parseKey } from './orphan.ts';
import type { findObjectOwner } from './orphans.ts';

type PurgeNeeds = {
  readonly findAssetById: Bound<typeof findAssetById>;
  readonly findObjectOwner: Bound<typeof findObjectOwner>;
  readonly store: ObjectStore;
  readonly discardClosedUploads: Bound<typeof discardClosedUploads>;
  readonly removeVideo: Bound<typeof removeVideo>;
};

export const purgeAssetJob =
  (needs: PurgeNeeds) =>
  async ({ payload: { assetId } }: JobRun<JobPayloads['purge-asset']>): Promise<void> => {
    const asset = await needs.findAssetById(assetId);
    if (!asset) return;
    await needs.discardClosedUploads(asset.id);
    if (isPurged(asset)) await removeObjects(needs, asset);
    else await removeOrphanedUploads(needs, asset.id);
    if (isPurged(asset) || asset.refused) await needs.removeVideo(asset);
  };

async function removeObjects({ store }: PurgeNeeds, { id }: Asset): Promise<void> {
  for (const prefix of assetPrefixes(id)) await store.removeAll(prefix);
}

/** Reads the uploads after listing the keys, so that it sees uploads that were recorded meanwhile. */
async function removeOrphanedUploads(needs: PurgeNeeds, assetId: string): Promise<void> {
  const keys: ObjectKey[] = [];
  for await (const key of needs.store.list(originalPrefix(assetId))) keys.push(key);
  const owner = await needs.findObjectOwner(assetId);
  if (!owner) return;
  for (const key of keys) if (isOrphanedUpload(parseKey(key), owner)) await needs.store.remove(key);
}
