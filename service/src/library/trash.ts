// Removes assets, for good or for a while, and restores them (contract B2).
import type { ServiceJobs, StartJob } from '../jobs.ts';
import { conflict, notFound } from '../platform/errors.ts';
import type { Database } from '../platform/postgres/database.ts';
import { findViolatedConstraint } from '../platform/postgres/database-errors.ts';
import type { Asset } from '../assets/asset.ts';
import { type EventData, newEvent } from '../assets/asset-event.ts';
import { assertVersion } from './if-match.ts';
import { isPosterDue } from '../assets/poster.ts';
import { markDeleted, markRestored, findOverdueInTrash } from './trash.sql.ts';

export type TrashNeeds = {
  readonly db: Database;
  readonly jobs: ServiceJobs;
  readonly findAssetById: (id: string) => Promise<Asset | undefined>;
  readonly now: () => Date;
  readonly trashDays: number;
  /** What goes on with an asset that was being worked on when it was removed. */
  readonly startJob: (asset: Asset) => StartJob | undefined;
};

/** `isForGood`: false keeps it restorable for TRASH_DAYS, and changes nothing on an asset that is in the trash. */
export type DeleteRequest = {
  readonly isForGood: boolean;
  readonly ifMatch: string | undefined;
  readonly note: EventData;
};
export type DeletedAsset = { readonly id: string; readonly deleted: true };

const MAX_RACES = 50;
const DAY_MS = 86_400_000;

/** Stops everything that the asset shows at once; its bytes are removed by a job, or when its time in the trash is over. */
export async function deleteAsset(
  needs: TrashNeeds,
  asset: Asset,
  removing: DeleteRequest,
): Promise<DeletedAsset> {
  let seen: Asset | undefined = asset;
  for (let race = 0; race < MAX_RACES; race++) {
    if (!seen || (seen.deleted_at && !seen.purge_at)) throw notFound('No such asset');
    assertVersion(seen, removing.ifMatch);
    if (seen.deleted_at && !removing.isForGood) return { id: asset.id, deleted: true };
    if (await removeSeen(needs, seen, removing)) return { id: asset.id, deleted: true };
    seen = await needs.findAssetById(asset.id);
  }
  throw new Error(`asset changed ${MAX_RACES} times while it was removed`);
}

function removeSeen(
  { db, jobs, now, trashDays }: TrashNeeds,
  seen: Asset,
  { isForGood, note }: DeleteRequest,
): Promise<boolean> {
  const purgeAt = isForGood ? null : new Date(now().getTime() + trashDays * DAY_MS);
  return db.transaction(async (tx) => {
    const gone = await markDeleted(tx, seen, {
      purgeAt,
      event: newEvent('asset.deleted', { ...note, restorable: !isForGood }),
      now: now(),
    });
    if (gone && isForGood) await jobs.send(tx, 'purge-asset', { assetId: seen.id });
    return gone !== undefined;
  });
}

/** Brings an asset back from the trash; one that is not in it is left as it is. */
export async function restoreAsset(
  { db, jobs, now, startJob, findAssetById: byId }: TrashNeeds,
  asset: Asset,
  note: EventData,
): Promise<Asset> {
  try {
    const restored = await db.transaction(async (tx) => {
      const back = await markRestored(tx, asset.id, {
        event: newEvent('asset.updated', { ...note, restored: true }),
        now: now(),
      });
      const job = back?.stream_status === 'processing' ? startJob(back) : undefined;
      if (back && job) await jobs.sendFor(tx, back.owner_user_id, job as never);
      if (back && isPosterDue(back)) await jobs.send(tx, 'make-poster', { assetId: back.id });
      return back;
    });
    return restored ?? living(await byId(asset.id));
  } catch (error) {
    if (findViolatedConstraint(error))
      throw conflict('Another asset is linked to this video by now', { field: 'provider_video_id' });
    throw error;
  }
}

function living(asset: Asset | undefined): Asset {
  if (!asset || asset.deleted_at) throw notFound('No such asset');
  return asset;
}

const BATCH = 200;

/** Purges the assets whose time in the trash is over; returns how many were due. An asset that was restored or changed since it was read is left alone. */
export async function emptyTrash(needs: TrashNeeds): Promise<number> {
  const assets = await findOverdueInTrash(needs.db, needs.now(), BATCH);
  for (const asset of assets)
    await removeSeen(needs, asset, {
      isForGood: true,
      ifMatch: undefined,
      note: { source: 'service', reason: 'trash_days' },
    });
  return assets.length < BATCH ? assets.length : assets.length + (await emptyTrash(needs));
}
