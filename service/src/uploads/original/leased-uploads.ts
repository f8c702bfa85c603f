// Keeps the lease of a resumable upload while a request works on it. Ends when another request waits for it,
// or when the asset takes no bytes any more: then the bytes are removed.
import { randomUUID } from 'node:crypto';
import type { UploadLease } from '../../lifecycle/decisions/change.ts';
import type { RowOf } from '../../platform/postgres/row.ts';
import { uploadKey } from '../../storage/object-key.ts';
import type { UploadsContext } from '../context.ts';
import {
  claimResumable,
  claimResumableRemoval,
  findClosedUploads,
  findSurplusUploads,
  releaseResumable,
  renewResumable,
  type resumableColumns,
} from '../tus/resumable-uploads.sql.ts';
import { inProgress } from './upload-errors.ts';
import { deleteHeldUpload, deleteUploads } from './uploads.sql.ts';

export type ResumableRow = RowOf<typeof resumableColumns>;

export type LeasedUpload = {
  readonly lease: UploadLease;
  readonly row: ResumableRow;
  /** Aborted when the lease is lost, another request waits for it, or the asset takes no bytes any more. */
  readonly signal: AbortSignal;
  readonly stop: () => void;
  readonly release: () => Promise<void>;
};

/**
 * A client that lost its connection comes back before the service notices. The earlier request ends within
 * this time.
 */
const WAIT_MS = 4500;
const CHECK_EVERY_MS = 100;
const RENEW_EVERY_MS = 1000;
/** Shorter than the lease, so that nothing is written after another process could have taken over. */
const MAX_UNRENEWED_MS = 8000;

/** Undefined if the upload does not exist. Throws CONFLICT if another request keeps its lease. */
export async function leaseUpload(
  ctx: UploadsContext,
  assetId: string,
  upload: string,
): Promise<LeasedUpload | undefined> {
  const lease: UploadLease = { upload, holder: randomUUID() };
  const end = performance.now() + WAIT_MS;
  for (;;) {
    ctx.intake.leases.get(upload)?.stop();
    const claimed = await claimResumable(ctx.db, assetId, lease);
    if (!claimed) return undefined;
    const { is_claimed: isClaimed, ...row } = claimed;
    if (isClaimed || row.finished_at) return startLease(ctx, { lease, row });
    if (performance.now() > end) throw inProgress();
    await new Promise((resolve) => {
      setTimeout(resolve, CHECK_EVERY_MS);
    });
  }
}

/** Renews a lease that was claimed until it is released. */
export function startLease(
  ctx: UploadsContext,
  { lease, row }: { readonly lease: UploadLease; readonly row: ResumableRow },
): LeasedUpload {
  const { db } = ctx;
  const { leases } = ctx.intake;
  const aborter = new AbortController();
  let renewedAt = performance.now();
  const timer = setInterval(() => {
    if (performance.now() - renewedAt > MAX_UNRENEWED_MS) aborter.abort();
    const startedAt = performance.now();
    renewResumable(db, lease, ctx.settings.uploadMaxAgeSeconds).then(
      (renewed) => {
        if (!renewed?.takes_bytes || renewed.is_release_requested) aborter.abort();
        else renewedAt = startedAt;
      },
      () => undefined,
    );
  }, RENEW_EVERY_MS);
  const leased: LeasedUpload = {
    lease,
    row,
    signal: aborter.signal,
    stop: () => aborter.abort(),
    release: async () => {
      clearInterval(timer);
      if (leases.get(lease.upload) === leased) leases.delete(lease.upload);
      await releaseResumable(db, lease);
      await discardIfClosed(ctx, row);
    },
  };
  if (row.finished_at) clearInterval(timer);
  else leases.set(lease.upload, leased);
  return leased;
}

/**
 * The job that removes the uploads of a closed asset skips those that a request writes. Every release is
 * before this query, so the job or this request sees that nobody writes the upload.
 */
async function discardIfClosed(ctx: UploadsContext, { id, asset_id: assetId }: ResumableRow): Promise<void> {
  const closed = await findClosedUploads(ctx.db, assetId);
  if (closed.some((upload) => upload.id === id)) await discardUploads(ctx, assetId, [{ id }]);
}

/** `is_partial` is false if only the row is left; a search for bytes costs an S3 store two requests. */
type DiscardedUpload = { readonly id: string; readonly is_partial?: boolean };

/** Ends uploads that no request writes. */
export async function discardUploads(
  ctx: UploadsContext,
  assetId: string,
  uploads: readonly DiscardedUpload[],
): Promise<void> {
  for (const { id, is_partial: isPartial = true } of uploads) {
    ctx.intake.checksums.forget(id);
    if (isPartial) await discardPartial(ctx, assetId, id);
  }
  const rowIds = uploads.filter(({ is_partial: isPartial }) => isPartial === false).map(({ id }) => id);
  if (rowIds.length > 0) await deleteUploads(ctx.db, rowIds);
}

/** Discards the oldest uploads of an asset that no request writes, as many as are open beyond `keep`. */
export async function discardIdleUploads(
  ctx: UploadsContext,
  assetId: string,
  keep: number,
): Promise<number> {
  const idle = await findSurplusUploads(ctx.db, assetId, keep);
  await discardUploads(ctx, assetId, idle);
  return idle.length;
}

/** Leaves an upload that a request writes. The claim keeps it from finishing while its object is removed. */
async function discardPartial(ctx: UploadsContext, assetId: string, id: string): Promise<void> {
  const lease: UploadLease = { upload: id, holder: randomUUID() };
  if (await claimResumableRemoval(ctx.db, lease)) await removeHeldUpload(ctx, assetId, lease);
}

/**
 * Removes the bytes before the row, so that a crash in between leaves nothing that no row names. The upload
 * has an object if a request ended between the store and the database.
 */
export async function removeHeldUpload(
  { db, store }: UploadsContext,
  assetId: string,
  lease: UploadLease,
): Promise<void> {
  const key = uploadKey(assetId, lease.upload);
  await store.partial?.discard(key);
  await store.remove(key);
  await deleteHeldUpload(db, lease);
}
