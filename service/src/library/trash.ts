// Removes assets, for good or for a while, and restores them (contract B2).
import type { Asset } from '../assets/asset.ts';
import { type EventData, newEvent } from '../assets/asset-event.ts';
import { isPosterDue } from '../assets/poster.ts';
import type { StartJob } from '../jobs.ts';
import type { Change } from '../lifecycle/change.ts';
import type { AssetStore } from '../lifecycle/store.ts';
import { conflict, notFound } from '../platform/errors.ts';
import type { Database } from '../platform/postgres/database.ts';
import { findViolatedConstraint } from '../platform/postgres/database-errors.ts';
import { assertVersion } from './if-match.ts';
import { findOverdueInTrash } from './trash.sql.ts';

export type TrashNeeds = {
  readonly db: Database;
  readonly update: AssetStore['update'];
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

const DAY_MS = 86_400_000;

/** Stops everything that the asset shows at once; its bytes are removed by a job, or when its time in the trash is over. */
export async function deleteAsset(
  { update, trashDays }: TrashNeeds,
  asset: Asset,
  { isForGood, ifMatch, note }: DeleteRequest,
): Promise<DeletedAsset> {
  const updated = await update(asset, (seen, now) => {
    if (isPurged(seen)) throw notFound('No such asset');
    assertVersion(seen, ifMatch);
    if (seen.deleted_at && !isForGood) return undefined;
    const purgeAt = isForGood ? null : new Date(now.getTime() + trashDays * DAY_MS);
    return decideDeletion(seen, { purgeAt, note, now });
  });
  if (!updated) throw notFound('No such asset');
  return { id: asset.id, deleted: true };
}

const isPurged = ({ deleted_at, purge_at }: Asset): boolean => deleted_at !== null && purge_at === null;

type Deletion = { readonly purgeAt: Date | null; readonly note: EventData; readonly now: Date };

/** `purgeAt` is null where the asset is deleted for good. */
const decideDeletion = (seen: Asset, { purgeAt, note, now }: Deletion): Change => ({
  set: {
    deleted_at: seen.deleted_at ?? now,
    purge_at: purgeAt,
    version: seen.version + 1,
    playback_version: seen.playback_version + 1,
  },
  events: [newEvent('asset.deleted', { ...note, restorable: purgeAt !== null })],
  jobs: purgeAt ? [] : [{ name: 'purge-asset', payload: { assetId: seen.id } }],
});

/** Brings an asset back from the trash; one that is not in it is left as it is. */
export async function restoreAsset(
  { update, startJob }: TrashNeeds,
  asset: Asset,
  note: EventData,
): Promise<Asset> {
  try {
    const updated = await update(asset, (seen) => {
      if (isPurged(seen)) throw notFound('No such asset');
      return seen.purge_at ? decideRestore(seen, { note, startJob }) : undefined;
    });
    if (!updated) throw notFound('No such asset');
    return updated.asset;
  } catch (error) {
    if (findViolatedConstraint(error))
      throw conflict('Another asset is linked to this video by now', { field: 'provider_video_id' });
    throw error;
  }
}

type Restore = Pick<TrashNeeds, 'startJob'> & { readonly note: EventData };

/** Work that the deletion stopped starts again. */
function decideRestore(seen: Asset, { note, startJob }: Restore): Change {
  const set = { deleted_at: null, purge_at: null };
  const restored = { ...seen, ...set };
  const job = restored.stream_status === 'processing' ? startJob(restored) : undefined;
  return {
    set,
    events: [newEvent('asset.restored', note)],
    jobs: [
      ...(job ? [job] : []),
      ...(isPosterDue(restored) ? [{ name: 'make-poster', payload: { assetId: seen.id } } as const] : []),
    ],
  };
}

const BATCH = 200;

/** Purges the assets whose time in the trash is over; returns how many were due. An asset that was restored or changed since it was read is left alone. */
export async function emptyTrash(needs: TrashNeeds): Promise<number> {
  const assets = await findOverdueInTrash(needs.db, needs.now(), BATCH);
  const note = { source: 'service', reason: 'trash_days' };
  for (const asset of assets)
    await needs.update(asset, (seen, now) =>
      seen.revision === asset.revision ? decideDeletion(seen, { purgeAt: null, note, now }) : undefined,
    );
  return assets.length < BATCH ? assets.length : assets.length + (await emptyTrash(needs));
}
