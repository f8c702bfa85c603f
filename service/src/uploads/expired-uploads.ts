// Ends uploads that did not finish in time, and finishes those whose process ended before it could.
import type { findAssetById } from '../assets/asset-lookup.ts';
import type { Bound } from '../platform/bind.ts';
import type { Queries } from '../platform/postgres/database.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { findClosedUploads, findCompleteUploads } from './resumable-uploads.sql.ts';
import type { discardUploads, openResumable } from './resumable-uploads.ts';
import { endExpiredPuts, findOverdueUploads } from './uploads.sql.ts';

type ExpiryNeeds = {
  readonly db: Queries;
  readonly store: ObjectStore;
  readonly now: () => Date;
  readonly findAssetById: Bound<typeof findAssetById>;
  readonly openResumable: Bound<typeof openResumable>;
  readonly discardUploads: Bound<typeof discardUploads>;
};

const BATCH = 200;

/** An expired upload cannot finish any more, so its object may be removed. */
export const endExpiredUploads = ({ db }: Pick<ExpiryNeeds, 'db'>, assetIds: readonly string[]) =>
  endExpiredPuts(db, assetIds);

/** Deletes the uploads that are over, with their bytes. Returns their number. */
export async function pruneUploads(needs: ExpiryNeeds): Promise<number> {
  let pruned = 0;
  for (;;) {
    const uploads = await findOverdueUploads(needs.db, needs.now(), BATCH);
    for (const upload of uploads) await needs.discardUploads(upload.asset_id, [upload]);
    pruned += uploads.length;
    if (uploads.length < BATCH) return pruned;
  }
}

/** Deletes the resumable uploads of an asset that takes no bytes any more. */
export const discardClosedUploads = async (needs: ExpiryNeeds, assetId: string): Promise<void> =>
  needs.discardUploads(assetId, await findClosedUploads(needs.db, assetId));

/** Finishes uploads that have all their bytes. */
export async function finishCompleteUploads(needs: ExpiryNeeds): Promise<void> {
  if (!needs.store.partial) return;
  for (const { id, asset_id: assetId } of await findCompleteUploads(needs.db, needs.now(), BATCH)) {
    const asset = await needs.findAssetById(assetId);
    if (asset) await (await needs.openResumable(asset, id)).release();
  }
}
