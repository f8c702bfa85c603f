// Removes all objects of a purged asset; of other assets, every upload that is not the original. Keeps
// objects that wait for the end of PURGE_GRACE_DAYS. Runs again when presigned URLs have expired.
import { type Asset, isPurged } from '../assets/asset.ts';
import type { findAssetById } from '../assets/asset-lookup.ts';
import type { deleteManifests } from '../encoding/jobs/growing-manifests.ts';
import type { JobPayloads, ServiceJobs } from '../jobs.ts';
import type { removeUnlessDeferred } from '../lifecycle/deferred-removals.ts';
import type { Bound } from '../platform/bind.ts';
import type { JobRun } from '../platform/jobs/job-queue.ts';
import type { DatabaseNow } from '../platform/postgres/database-clock.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { isHosted } from '../providers/hosted-playback.ts';
import type { releaseEncoder } from '../providers/encoder-jobs.ts';
import type { removeVideo } from '../providers/hosted-videos.ts';
import { assetPrefixes, type ObjectKey, originalPrefix } from '../storage/object-key.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { discardClosedUploads } from '../uploads/expired-uploads.ts';
import { isOrphan, lastTransferEnd, parseKey } from './orphan.ts';
import type { findObjectOwner } from './orphans.ts';

type PurgeNeeds = {
  readonly db: Pick<Database, 'transaction'>;
  readonly jobs: Pick<ServiceJobs, 'sendFor'>;
  readonly databaseNow: DatabaseNow;
  readonly isHosted: Bound<typeof isHosted>;
  readonly findAssetById: Bound<typeof findAssetById>;
  readonly findObjectOwner: Bound<typeof findObjectOwner>;
  readonly store: ObjectStore;
  readonly removeUnlessDeferred: Bound<typeof removeUnlessDeferred>;
  readonly deleteManifests: Bound<typeof deleteManifests>;
  readonly discardClosedUploads: Bound<typeof discardClosedUploads>;
  readonly removeVideo: Bound<typeof removeVideo>;
  readonly releaseEncoder: Bound<typeof releaseEncoder>;
};

export const purgeAssetJob =
  (needs: PurgeNeeds) =>
  async ({ payload: { assetId } }: JobRun<JobPayloads['purge-asset']>): Promise<void> => {
    const asset = await needs.findAssetById(assetId);
    if (!asset) return;
    await needs.discardClosedUploads(asset.id);
    if (isPurged(asset)) {
      await needs.releaseEncoder(asset.id);
      await removeObjects(needs, asset);
    } else await removeOrphanedUploads(needs, asset.id);
    if (isPurged(asset) || asset.refused) await needs.removeVideo(asset);
    await repeatAfterTransfers(needs, asset);
  };

/** A presigned PUT stays valid when its asset is deleted, or when another upload has won. */
async function repeatAfterTransfers(needs: PurgeNeeds, asset: Asset): Promise<void> {
  const { id: assetId, owner_user_id: owner } = asset;
  const startAfter = needs.store.direct && !needs.isHosted(asset) ? lastTransferEnd(asset) : undefined;
  if (!startAfter || startAfter <= (await needs.databaseNow())) return;
  const job = { name: 'purge-asset', payload: { assetId }, startAfter } as const;
  await needs.db.transaction((tx) => needs.jobs.sendFor(tx, owner, job));
}

async function removeObjects(needs: PurgeNeeds, { id }: Asset): Promise<void> {
  await needs.deleteManifests(id);
  for (const prefix of assetPrefixes(id)) await needs.removeUnlessDeferred(id, prefix);
}

/** Reads the uploads after listing the keys, so that it sees uploads that were recorded meanwhile. */
async function removeOrphanedUploads(needs: PurgeNeeds, assetId: string): Promise<void> {
  const keys: ObjectKey[] = [];
  for await (const key of needs.store.list(originalPrefix(assetId))) keys.push(key);
  const owner = await needs.findObjectOwner(assetId);
  if (!owner) return;
  for (const key of keys) if (isOrphan(parseKey(key), owner)) await needs.store.remove(key);
}
