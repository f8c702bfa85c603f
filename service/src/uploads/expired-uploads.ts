// Ends uploads that did not finish in time, and finishes those whose process ended before it could.
import type { findAssetById } from '../assets/asset-lookup.ts';
import type { Bound } from '../platform/bind.ts';
import type { DatabaseNow } from '../platform/postgres/database-clock.ts';
import type { Queries } from '../platform/postgres/database.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { completeMultipart } from './multipart/multipart-completion.ts';
import type { discardUploads } from './original/leased-uploads.ts';
import type { finishInterrupted } from './tus/concatenation.ts';
import { findInterruptedCompletions } from './multipart/multipart-uploads.sql.ts';
import type { removeMultipart } from './multipart/multipart-uploads.ts';
import { findClosedUploads, findCompleteUploads } from './tus/resumable-uploads.sql.ts';
import { deleteUploads, endExpiredPuts, findOverdueUploads } from './original/uploads.sql.ts';

type ExpiryNeeds = {
  readonly db: Queries;
  readonly store: ObjectStore;
  readonly databaseNow: DatabaseNow;
  readonly log: { warn(facts: object, message: string): void };
  readonly findAssetById: Bound<typeof findAssetById>;
  readonly finishInterrupted: Bound<typeof finishInterrupted>;
  readonly discardUploads: Bound<typeof discardUploads>;
  readonly completeMultipart: Bound<typeof completeMultipart>;
  readonly removeMultipart: Bound<typeof removeMultipart>;
};

const BATCH = 200;

/** An expired upload cannot finish any more, so its object may be removed. */
export const endExpiredUploads = ({ db }: Pick<ExpiryNeeds, 'db'>, assetIds: readonly string[]) =>
  endExpiredPuts(db, assetIds);

type OpenUpload = {
  readonly id: string;
  readonly asset_id: string;
  readonly protocol: string;
  readonly is_partial?: boolean;
};

/** Deletes the uploads that are over, with their bytes. Returns their number. */
export async function pruneUploads(needs: ExpiryNeeds): Promise<number> {
  let pruned = 0;
  for (;;) {
    const uploads = await findOverdueUploads(needs.db, await needs.databaseNow(), BATCH);
    const removed = await forEach(needs, uploads, (upload) => discard(needs, upload));
    pruned += removed;
    // Uploads that cannot be removed now would be found again.
    if (uploads.length < BATCH || removed < uploads.length) return pruned;
  }
}

async function discard(needs: ExpiryNeeds, upload: OpenUpload): Promise<void> {
  const { id, asset_id: assetId, protocol } = upload;
  if (protocol !== 's3-multipart') return needs.discardUploads(assetId, [upload]);
  // Only the row of a finished upload is left.
  if (!(await needs.removeMultipart(assetId, id))) await deleteUploads(needs.db, [id]);
}

/** Deletes the uploads of an asset that takes no bytes any more. */
export async function discardClosedUploads(needs: ExpiryNeeds, assetId: string): Promise<void> {
  for (const upload of await findClosedUploads(needs.db, assetId)) await discard(needs, upload);
}

/** Finishes uploads that have all their bytes, and final uploads whose parts have them. */
export async function finishCompleteUploads(needs: ExpiryNeeds): Promise<void> {
  const { db, store, databaseNow } = needs;
  const now = await databaseNow();
  if (store.partial)
    await forEach(needs, await findCompleteUploads(db, now, BATCH), async ({ id, asset_id: assetId }) => {
      const asset = await needs.findAssetById(assetId);
      if (asset) await needs.finishInterrupted(asset, id);
    });
  if (store.direct)
    await forEach(needs, await findInterruptedCompletions(db, now, BATCH), async ({ id, asset_id }) => {
      const asset = await needs.findAssetById(asset_id);
      if (asset) await needs.completeMultipart(asset, { id });
    });
}

type UploadRef = { readonly id: string; readonly asset_id: string };

/** An upload that fails does not keep the others waiting; the next run repeats it. Returns the successes. */
async function forEach<U extends UploadRef>(
  { log }: ExpiryNeeds,
  uploads: readonly U[],
  work: (upload: U) => Promise<void>,
): Promise<number> {
  let done = 0;
  for (const upload of uploads) {
    try {
      await work(upload);
      done += 1;
    } catch (error) {
      const facts = { upload_id: upload.id, asset_id: upload.asset_id, err: error };
      log.warn(facts, 'an upload could not be finished or removed');
    }
  }
  return done;
}
