// Joins partial uploads in a final one, which then finishes as every other upload (contract B4).
import { randomUUID } from 'node:crypto';
import type { Asset } from '../../assets/asset.ts';
import type { findAssetById } from '../../assets/asset-lookup.ts';
import type { Bound } from '../../platform/bind.ts';
import { notFound, type ServiceError, unavailable } from '../../platform/http/errors.ts';
import type { SpaceGuard } from '../../platform/disk/free-space.ts';
import type { Database, Transaction } from '../../platform/postgres/database.ts';
import type { AcquireSlot } from '../../platform/process/fair-slots.ts';
import { isUuid } from '../../platform/values/uuid.ts';
import type { ObjectKey } from '../../storage/object-key.ts';
import { ObjectStoreError, type ObjectStore } from '../../storage/object-store.ts';
import { bytesLeft, quotaExceeded } from '../../usage/quota.ts';
import type { findByteQuota } from '../../usage/usage.ts';
import { extendParts } from './concatenation.sql.ts';
import type { discardUploads, LeasedUpload, ResumableRow, startLease } from '../original/leased-uploads.ts';
import { insertOpenUpload } from '../original/open-uploads.ts';
import { partialOf, segmentBytesAt, toPartial } from './partial-bytes.ts';
import type { appendBytes } from './resumable-bytes.ts';
import { findFinals, findResumable, insertResumable } from './resumable-uploads.sql.ts';
import type { openResumable, terminateResumable } from './resumable-uploads.ts';
import { type FinalPart, isSameParts, partsOf, toFinalParts } from './upload-concat.ts';
import { assertLength } from '../original/upload-errors.ts';

type ConcatenationNeeds = {
  readonly db: Database;
  readonly store: Pick<ObjectStore, 'partial' | 'stream'>;
  readonly requireDatabaseSpace: SpaceGuard;
  readonly findAssetById: Bound<typeof findAssetById>;
  readonly findByteQuota: Bound<typeof findByteQuota>;
  readonly startLease: Bound<typeof startLease>;
  readonly openResumable: Bound<typeof openResumable>;
  readonly terminateResumable: Bound<typeof terminateResumable>;
  readonly appendBytes: Bound<typeof appendBytes>;
  readonly discardUploads: Bound<typeof discardUploads>;
  /** For one segment, so that owners take turns while long files are joined. */
  readonly acquireAssembly: AcquireSlot;
  readonly maxUploadBytes: number;
  readonly uploadTtlSeconds: number;
  readonly now: () => Date;
};

/** Undefined for partial and whole uploads. */
export async function findFinal(
  { db }: Pick<ConcatenationNeeds, 'db'>,
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
  needs: ConcatenationNeeds,
  asset: Asset,
  ids: readonly string[],
): Promise<string> {
  const existing = await findSame(needs.db, asset, ids);
  const created = existing ? { id: existing.id } : await createFinal(needs, asset, ids);
  if ('leased' in created) await finish(needs, asset, created.leased);
  else await finishInterrupted(needs, asset, created.id);
  return created.id;
}

/** Finishes an upload that has all its bytes, or whose parts have them. */
export async function finishInterrupted(needs: ConcatenationNeeds, asset: Asset, id: string): Promise<void> {
  await finish(needs, asset, await needs.openResumable(asset, id));
}

async function finish(needs: ConcatenationNeeds, asset: Asset, leased: LeasedUpload): Promise<void> {
  try {
    if (!leased.row.finished_at) await appendParts(needs, asset, leased);
  } finally {
    await leased.release();
  }
}

const findSame = async (db: Pick<Database, 'all' | 'one'>, asset: Asset, ids: readonly string[]) =>
  (await findFinals(db, asset)).find((row) => isSameParts(partsOf(row), ids));

type CreatedFinal = { readonly id: string; readonly leased?: LeasedUpload };

/** Without a lease if another request was faster. */
async function createFinal(
  needs: ConcatenationNeeds,
  asset: Asset,
  ids: readonly string[],
): Promise<CreatedFinal & ({ readonly leased: LeasedUpload } | object)> {
  await needs.requireDatabaseSpace();
  const lease = { upload: randomUUID(), holder: randomUUID() };
  const row = await insertOpenUpload(
    needs,
    asset,
    async (tx: Transaction) =>
      (await findSame(tx, asset, ids)) ??
      insertResumable(tx, asset, { lease, ...(await claimParts(needs, asset, { tx, ids })) }),
  );
  return row.id === lease.upload ? { id: row.id, leased: needs.startLease({ lease, row }) } : { id: row.id };
}

async function claimParts(
  { now, uploadTtlSeconds, maxUploadBytes }: ConcatenationNeeds,
  asset: Asset,
  { tx, ids }: { readonly tx: Transaction; readonly ids: readonly string[] },
) {
  const at = now();
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
async function appendParts(needs: ConcatenationNeeds, asset: Asset, leased: LeasedUpload): Promise<void> {
  let { row } = leased;
  let end = 0;
  for (const part of partsOf(row)) {
    end += part.sizeBytes;
    if (row.bytes_received < end) row = await appendPart(needs, asset, { ...leased, row, part, end });
    await needs.discardUploads(asset.id, [{ id: part.id }]);
  }
}

type PartAppend = LeasedUpload & {
  readonly part: FinalPart;
  /** Where the part ends in the file. */
  readonly end: number;
};

async function appendPart(
  needs: ConcatenationNeeds,
  asset: Asset,
  { part, end, ...leased }: PartAppend,
): Promise<ResumableRow> {
  const key = await openPart(needs, leased, part);
  let { row } = leased;
  while (row.bytes_received < end) {
    const { bytes_received: received } = row;
    const bytes = Math.min(segmentBytesAt(received), end - received);
    const start = part.sizeBytes - (end - received);
    row = await appendSegment(needs, asset, { ...leased, row, key, start, bytes });
    if (row.bytes_received === received) throw await endLost(needs, leased);
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
  needs: ConcatenationNeeds,
  asset: Asset,
  { key, start, bytes: length, ...leased }: SegmentAppend,
): Promise<ResumableRow> {
  await assertQuota(needs, asset, length);
  const release = await needs.acquireAssembly(asset.owner_user_id, asset.id);
  const bytes = needs.store.stream(key, { start, end: start + length - 1 });
  let failure: unknown;
  bytes.once('error', (error) => {
    failure = error;
  });
  try {
    return await needs.appendBytes(asset, { leased, body: { length, bytes } });
  } catch (error) {
    throw failure === undefined
      ? error
      : unavailable('The object store cannot read a partial upload. Retry later.', failure);
  } finally {
    release();
  }
}

/** The record of a segment is exact; this refuses before the bytes are written. */
async function assertQuota(needs: ConcatenationNeeds, asset: Asset, requested: number): Promise<void> {
  const quota = await needs.findByteQuota(asset.owner_user_id);
  if (quota && bytesLeft(quota) < requested) throw quotaExceeded({ ...quota, field: 'bytes', requested });
}

/** The object of a part. Throws NOT_FOUND and removes the final upload if its bytes are gone. */
async function openPart(
  needs: ConcatenationNeeds,
  leased: LeasedUpload,
  { id, sizeBytes }: FinalPart,
): Promise<ObjectKey> {
  const row = await findResumable(needs.db, leased.row.asset_id, id);
  if (row?.bytes_received !== sizeBytes) throw await endLost(needs, leased);
  const partial = toPartial(row);
  try {
    await partialOf(needs.store).finish(partial);
    return partial.key;
  } catch (error) {
    throw error instanceof ObjectStoreError && error.reason === 'lost' ? await endLost(needs, leased) : error;
  }
}

async function endLost(needs: ConcatenationNeeds, leased: LeasedUpload): Promise<ServiceError> {
  await needs.terminateResumable(leased);
  return notFound('A partial upload was deleted meanwhile. Send the file again.');
}
