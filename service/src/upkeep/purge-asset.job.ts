// Removes all objects of a purged asset; of other assets, every upload that is not the original. Keeps
// objects that wait for the end of PURGE_GRACE_DAYS. Runs again when presigned URLs have expired.
import { type Asset, isPurged } from '../assets/asset.ts';
import type { JobPayloads } from '../jobs.ts';
import type { JobRun } from '../platform/jobs/job-queue.ts';
import { assetPrefixes, type ObjectKey, originalPrefix } from '../storage/object-key.ts';
import type { UpkeepContext } from './context.ts';
import { isOrphan, lastTransferEnd, parseKey } from './orphan.ts';
import { findObjectOwner } from './checks/stored-objects.ts';

export const purgeAssetJob =
  (ctx: UpkeepContext) =>
  async ({ payload: { assetId } }: JobRun<JobPayloads['purge-asset']>): Promise<void> => {
    const asset = await ctx.lifecycle.findAssetById(assetId);
    if (!asset) return;
    await ctx.uploads.discardClosedUploads(asset.id);
    if (isPurged(asset)) {
      await ctx.providers.releaseEncoder(asset.id);
      await removeObjects(ctx, asset);
    } else await removeOrphanedUploads(ctx, asset.id);
    if (isPurged(asset) || asset.refused) await ctx.providers.removeVideo(asset);
    await repeatAfterTransfers(ctx, asset);
  };

/** A presigned PUT stays valid when its asset is deleted, or when another upload has won. */
async function repeatAfterTransfers(ctx: UpkeepContext, asset: Asset): Promise<void> {
  const { id: assetId, owner_user_id: owner } = asset;
  const startAfter = ctx.store.direct && !ctx.providers.isHosted(asset) ? lastTransferEnd(asset) : undefined;
  if (!startAfter || startAfter <= (await ctx.clocks.databaseNow())) return;
  const job = { name: 'purge-asset', payload: { assetId }, startAfter } as const;
  await ctx.db.transaction((tx) => ctx.jobs.sendFor(tx, owner, job));
}

async function removeObjects(ctx: UpkeepContext, { id }: Asset): Promise<void> {
  await ctx.encoding.deleteGrowingIndexes(id);
  for (const prefix of assetPrefixes(id)) await ctx.lifecycle.removeUnlessDeferred(id, prefix);
}

/** Reads the uploads after listing the keys, so that it sees uploads that were recorded meanwhile. */
async function removeOrphanedUploads(ctx: UpkeepContext, assetId: string): Promise<void> {
  const keys: ObjectKey[] = [];
  for await (const key of ctx.store.list(originalPrefix(assetId))) keys.push(key);
  const owner = await findObjectOwner(ctx, assetId);
  if (!owner) return;
  for (const key of keys) if (isOrphan(parseKey(key), owner)) await ctx.store.remove(key);
}
