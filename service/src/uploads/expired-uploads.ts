// Ends uploads that did not finish in time, and finishes those whose process ended before it could.
import type { UploadsContext } from './context.ts';
import { completeMultipart } from './multipart/multipart-completion.ts';
import { findInterruptedCompletions } from './multipart/multipart-uploads.sql.ts';
import { removeMultipart } from './multipart/multipart-uploads.ts';
import { discardUploads } from './original/leased-uploads.ts';
import { deleteUploads, endExpiredPuts, findOverdueUploads } from './original/uploads.sql.ts';
import { finishInterrupted } from './tus/concatenation.ts';
import { findClosedUploads, findCompleteUploads } from './tus/resumable-uploads.sql.ts';

const BATCH = 200;

/** An expired upload cannot finish any more, so its object may be removed. */
export const endExpiredUploads = ({ db }: UploadsContext, assetIds: readonly string[]) =>
  endExpiredPuts(db, assetIds);

type OpenUpload = {
  readonly id: string;
  readonly asset_id: string;
  readonly protocol: string;
  readonly is_partial?: boolean;
};

/** Deletes the uploads that are over, with their bytes. Returns their number. */
export async function pruneUploads(ctx: UploadsContext): Promise<number> {
  let pruned = 0;
  for (;;) {
    const uploads = await findOverdueUploads(ctx.db, await ctx.clocks.databaseNow(), BATCH);
    const removed = await forEach(ctx, uploads, (upload) => discard(ctx, upload));
    pruned += removed;
    // Uploads that cannot be removed now would be found again.
    if (uploads.length < BATCH || removed < uploads.length) return pruned;
  }
}

async function discard(ctx: UploadsContext, upload: OpenUpload): Promise<void> {
  const { id, asset_id: assetId, protocol } = upload;
  if (protocol !== 's3-multipart') return discardUploads(ctx, assetId, [upload]);
  // Only the row of a finished upload is left.
  if (!(await removeMultipart(ctx, assetId, id))) await deleteUploads(ctx.db, [id]);
}

/** Deletes the uploads of an asset that takes no bytes any more. */
export async function discardClosedUploads(ctx: UploadsContext, assetId: string): Promise<void> {
  for (const upload of await findClosedUploads(ctx.db, assetId)) await discard(ctx, upload);
}

/** Finishes uploads that have all their bytes, and final uploads whose parts have them. */
export async function finishCompleteUploads(ctx: UploadsContext): Promise<void> {
  const { db, store } = ctx;
  const now = await ctx.clocks.databaseNow();
  if (store.partial)
    await forEach(ctx, await findCompleteUploads(db, now, BATCH), async ({ id, asset_id: assetId }) => {
      const asset = await ctx.lifecycle.findAssetById(assetId);
      if (asset) await finishInterrupted(ctx, asset, id);
    });
  if (store.direct)
    await forEach(ctx, await findInterruptedCompletions(db, now, BATCH), async ({ id, asset_id }) => {
      const asset = await ctx.lifecycle.findAssetById(asset_id);
      if (asset) await completeMultipart(ctx, asset, { id });
    });
}

type UploadRef = { readonly id: string; readonly asset_id: string };

/** An upload that fails does not keep the others waiting; the next run repeats it. Returns the successes. */
async function forEach<U extends UploadRef>(
  { log }: UploadsContext,
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
