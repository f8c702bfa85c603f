// Joins partial uploads in a final one, which then finishes as every other upload (contract B4).
import { randomUUID } from 'node:crypto';
import type { Asset } from '../../assets/asset.ts';
import { notFound, type ServiceError, unavailable } from '../../platform/http/errors.ts';
import type { Database, Transaction } from '../../platform/postgres/database.ts';
import { isUuid } from '../../platform/values/uuid.ts';
import type { ObjectKey } from '../../storage/object-key.ts';
import { ObjectStoreError } from '../../storage/object-store.ts';
import { bytesLeft, quotaExceeded } from '../../usage/quota.ts';
import type { UploadsContext } from '../context.ts';
import {
  discardUploads,
  type LeasedUpload,
  type ResumableRow,
  startLease,
} from '../original/leased-uploads.ts';
import { insertOpenUpload } from '../original/open-uploads.ts';
import { assertLength } from '../original/upload-errors.ts';
import { extendParts } from './concatenation.sql.ts';
import { partialOf, segmentBytesAt, toPartial } from './partial-bytes.ts';
import { appendBytes } from './resumable-bytes.ts';
import { findFinals, findResumable, insertResumable } from './resumable-uploads.sql.ts';
import { openResumable, terminateResumable } from './resumable-uploads.ts';
import { type FinalPart, isSameParts, partsOf, toFinalParts } from './upload-concat.ts';

/** Undefined for partial and whole uploads. */
export async function findFinal(
  { db }: UploadsContext,
  asset: Asset,
  id: string,
): Promise<ResumableRow | undefined> {
  const row = isUuid(id) ? await findResumable(db, asset.id, id) : undefined;
  return row?.concatenation === 'final' ? row : undefined;
}

/**
 * Returns the id of the final upload of these parts, once it is the original of the asset. Repeated calls
 * return the same one, and continue it after a crash.
 */
export async function concatenate(
  ctx: UploadsContext,
  asset: Asset,
  ids: readonly string[],
): Promise<string> {
  const existing = await findSame(ctx.db, asset, ids);
  const created = existing ? { id: existing.id } : await createFinal(ctx, asset, ids);
  if ('leased' in created) await finish(ctx, asset, created.leased);
  else await finishInterrupted(ctx, asset, created.id);
  return created.id;
}

/** Finishes an upload that has all its bytes, or whose parts have them. */
export async function finishInterrupted(ctx: UploadsContext, asset: Asset, id: string): Promise<void> {
  await finish(ctx, asset, await openResumable(ctx, asset, id));
}

async function finish(ctx: UploadsContext, asset: Asset, leased: LeasedUpload): Promise<void> {
  try {
    if (!leased.row.finished_at) await appendParts(ctx, asset, leased);
  } finally {
    await leased.release();
  }
}

const findSame = async (db: Pick<Database, 'all' | 'one'>, asset: Asset, ids: readonly string[]) =>
  (await findFinals(db, asset)).find((row) => isSameParts(partsOf(row), ids));

type CreatedFinal = { readonly id: string; readonly leased?: LeasedUpload };

/** Without a lease if another request was faster. */
async function createFinal(
  ctx: UploadsContext,
  asset: Asset,
  ids: readonly string[],
): Promise<CreatedFinal & ({ readonly leased: LeasedUpload } | object)> {
  await ctx.admission.requireDatabaseSpace();
  const lease = { upload: randomUUID(), holder: randomUUID() };
  const row = await insertOpenUpload(
    ctx,
    asset,
    async (tx: Transaction) =>
      (await findSame(tx, asset, ids)) ??
      insertResumable(tx, asset, { lease, ...(await claimParts(ctx, asset, { tx, ids })) }),
  );
  return row.id === lease.upload ? { id: row.id, leased: startLease(ctx, { lease, row }) } : { id: row.id };
}

async function claimParts(
  { clocks, settings: { uploadTtlSeconds, maxUploadBytes } }: UploadsContext,
  asset: Asset,
  { tx, ids }: { readonly tx: Transaction; readonly ids: readonly string[] },
) {
  const at = clocks.now();
  const expiresAt = new Date(at.getTime() + uploadTtlSeconds * 1000);
  const parts = toFinalParts(ids, await extendParts(tx, asset, { ids, now: at, expiresAt }));
  const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0);
  assertLength(asset, sizeBytes, maxUploadBytes);
  return { parts, sizeBytes, expiresAt, concatenation: 'final', maxOpen: 1 } as const;
}

/**
 * Continues at the offset of the row. A part is removed once its bytes are durable in the final upload, so
 * that each byte is joined once and at most one part is stored twice.
 */
async function appendParts(ctx: UploadsContext, asset: Asset, leased: LeasedUpload): Promise<void> {
  let { row } = leased;
  let end = 0;
  for (const part of partsOf(row)) {
    end += part.sizeBytes;
    if (row.bytes_received < end) row = await appendPart(ctx, asset, { ...leased, row, part, end });
    await discardUploads(ctx, asset.id, [{ id: part.id }]);
  }
}

type PartAppend = LeasedUpload & {
  readonly part: FinalPart;
  /** Where the part ends in the file. */
  readonly end: number;
};

async function appendPart(
  ctx: UploadsContext,
  asset: Asset,
  { part, end, ...leased }: PartAppend,
): Promise<ResumableRow> {
  const key = await openPart(ctx, leased, part);
  let { row } = leased;
  while (row.bytes_received < end) {
    const { bytes_received: received } = row;
    const bytes = Math.min(segmentBytesAt(received), end - received);
    const start = part.sizeBytes - (end - received);
    row = await appendSegment(ctx, asset, { ...leased, row, key, start, bytes });
    if (row.bytes_received === received) throw await endLost(ctx, leased);
  }
  return row;
}

type SegmentAppend = LeasedUpload & {
  readonly key: ObjectKey;
  /** In the part. */
  readonly start: number;
  readonly bytes: number;
};

async function appendSegment(
  ctx: UploadsContext,
  asset: Asset,
  { key, start, bytes: length, ...leased }: SegmentAppend,
): Promise<ResumableRow> {
  await assertQuota(ctx, asset, length);
  const release = await ctx.intake.acquireAssembly(asset.owner_user_id, asset.id);
  const bytes = ctx.store.stream(key, { start, end: start + length - 1 });
  let failure: unknown;
  bytes.once('error', (error) => {
    failure = error;
  });
  try {
    return await appendBytes(ctx, asset, { leased, body: { length, bytes } });
  } catch (error) {
    // Another request that waits for the upload also ends the stream by an error.
    throw failure === undefined || leased.signal.aborted
      ? error
      : unavailable('The object store cannot read a partial upload. Retry later.', failure);
  } finally {
    release();
  }
}

/** The record of a segment is exact; this refuses before the bytes are written. */
async function assertQuota(ctx: UploadsContext, asset: Asset, requested: number): Promise<void> {
  const quota = await ctx.usage.findByteQuota(asset.owner_user_id);
  if (quota && bytesLeft(quota) < requested) throw quotaExceeded({ ...quota, field: 'bytes', requested });
}

/** The object of a part. Throws NOT_FOUND and removes the final upload if its bytes are gone. */
async function openPart(
  ctx: UploadsContext,
  leased: LeasedUpload,
  { id, sizeBytes }: FinalPart,
): Promise<ObjectKey> {
  const row = await findResumable(ctx.db, leased.row.asset_id, id);
  if (row?.bytes_received !== sizeBytes) throw await endLost(ctx, leased);
  const partial = toPartial(row);
  try {
    await partialOf(ctx.store).finish(partial);
    return partial.key;
  } catch (error) {
    throw error instanceof ObjectStoreError && error.reason === 'lost' ? await endLost(ctx, leased) : error;
  }
}

async function endLost(ctx: UploadsContext, leased: LeasedUpload): Promise<ServiceError> {
  await terminateResumable(ctx, leased);
  return notFound('A partial upload was deleted meanwhile. Send the file again.');
}
