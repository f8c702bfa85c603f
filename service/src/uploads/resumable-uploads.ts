// Resumable uploads: creates, appends, finishes and terminates them (contract B4).
import { randomUUID } from 'node:crypto';
import type { Asset } from '../assets/asset.ts';
import type { Bound } from '../platform/bind.ts';
import { badRequest, conflict, notFound, type ServiceError } from '../platform/errors.ts';
import { diskFull } from '../platform/free-space.ts';
import { type ObjectKey, uploadKey } from '../storage/object-key.ts';
import { ObjectRefused, type ObjectStore, type PartialObjects } from '../storage/object-store.ts';
import { createBodyReader, type UploadBody } from './body-reader.ts';
import { openChecksum, type RunningChecksum } from './running-checksum.ts';
import type { findByteLimit, finishUpload, OriginalNeeds } from './store-original.ts';
import {
  countOtherUploads,
  declareLength,
  findIdleUploads,
  insertResumable,
  recordProgress,
} from './resumable-uploads.sql.ts';
import { assertLength, emptyUpload, inProgress, toClosedError } from './upload-errors.ts';
import type { holdUpload, ResumableRow, startHold, UploadHold } from './upload-holds.ts';
import { deleteHeldUpload, deleteUploads } from './uploads.sql.ts';

type ResumableNeeds = Omit<OriginalNeeds, 'assetStore' | 'underQuota' | 'findByteQuota'> & {
  readonly findByteLimit: Bound<typeof findByteLimit>;
  readonly finishUpload: Bound<typeof finishUpload>;
  readonly holdUpload: Bound<typeof holdUpload>;
  readonly startHold: Bound<typeof startHold>;
  readonly now: () => Date;
};

/** The row is written so often: a process that is killed loses no more. */
const SEGMENT_BYTES = 16 * 1024 * 1024;
/** Clients that lose the URL of an upload create another one. */
const MAX_IDLE_UPLOADS = 2;

const partialOf = ({ partial }: ObjectStore): PartialObjects => {
  if (!partial) throw notFound('This service takes no resumable uploads');
  return partial;
};

const keyOf = ({ id, asset_id: assetId }: Pick<ResumableRow, 'id' | 'asset_id'>): ObjectKey =>
  uploadKey(assetId, id);

export type NewUpload = { readonly id: string; readonly sizeBytes: number | undefined };

/** Creates an upload that this request holds. */
export async function createResumable(
  needs: ResumableNeeds,
  asset: Asset,
  { id, sizeBytes }: NewUpload,
): Promise<UploadHold> {
  if (sizeBytes !== undefined) assertLength(asset, sizeBytes, needs.maxUploadBytes);
  await needs.findByteLimit(asset, sizeBytes);
  await needs.requireDatabaseSpace();
  await discardUploads(needs, asset.id, await findIdleUploads(needs.db, asset.id, MAX_IDLE_UPLOADS));
  const lease = { upload: id, holder: randomUUID() };
  const expiresAt = nextExpiry(needs);
  const row = await insertResumable(needs.db, asset, { lease, sizeBytes: sizeBytes ?? null, expiresAt });
  if (!row) throw toClosedError(await needs.findAssetById(asset.id));
  return needs.startHold({ lease, row });
}

const nextExpiry = ({ now, uploadTtlSeconds }: ResumableNeeds): Date =>
  new Date(now().getTime() + uploadTtlSeconds * 1000);

/** Holds an upload that exists and has not expired; finishes it if only that is missing. */
export async function openResumable(needs: ResumableNeeds, asset: Asset, id: string): Promise<UploadHold> {
  const hold = await needs.holdUpload(asset.id, id);
  if (!hold) throw notFound('No such upload. Create another one.');
  try {
    return await checkResumable(needs, asset, hold);
  } catch (error) {
    await hold.release();
    throw error;
  }
}

async function checkResumable(needs: ResumableNeeds, asset: Asset, hold: UploadHold): Promise<UploadHold> {
  const { row } = hold;
  if (row.finished_at) return hold;
  if (row.expires_at <= needs.now()) throw notFound('The upload has expired. Create another one.');
  if (row.attempt !== asset.attempt || asset.uploaded_at || asset.stream_status !== 'pending_upload') {
    await terminateResumable(needs, hold);
    throw toClosedError(asset);
  }
  if (row.size_bytes !== row.bytes_received) return hold;
  await finishResumable(needs, asset, hold);
  return { ...hold, row: { ...row, finished_at: needs.now() } };
}

/** Announces the length of an upload that was created without one. */
export async function declareResumable(
  needs: ResumableNeeds,
  asset: Asset,
  { hold, sizeBytes }: { readonly hold: UploadHold; readonly sizeBytes: number },
): Promise<UploadHold> {
  assertLength(asset, sizeBytes, needs.maxUploadBytes);
  await needs.findByteLimit(asset, sizeBytes);
  const row = await declareLength(needs.db, hold.lease, sizeBytes);
  if (!row) throw inProgress();
  return { ...hold, row };
}

/**
 * Appends the bytes of a request and returns the new offset. All bytes up to it are durable, also if this
 * throws.
 */
export async function appendBytes(
  needs: ResumableNeeds,
  asset: Asset,
  { hold, body }: { readonly hold: UploadHold; readonly body: UploadBody },
): Promise<number> {
  if (hold.row.finished_at) return hold.row.bytes_received;
  const { maxBytes, tooLong } = await needs.findByteLimit(asset, hold.row.size_bytes ?? undefined);
  const max = hold.row.size_bytes ?? maxBytes;
  if (body.length !== undefined && hold.row.bytes_received + body.length > max) throw tooLong();
  await needs.requireDatabaseSpace();
  const stop = () => body.stop();
  hold.signal.addEventListener('abort', stop, { once: true });
  try {
    const row = await appendSegments(needs, hold, { body, max, tooLong });
    if (row.size_bytes === row.bytes_received) await finishResumable(needs, asset, { ...hold, row });
    return row.bytes_received;
  } finally {
    hold.signal.removeEventListener('abort', stop);
  }
}

type Appending = {
  readonly body: UploadBody;
  readonly max: number;
  readonly tooLong: () => ServiceError;
};

async function appendSegments(
  needs: ResumableNeeds,
  hold: UploadHold,
  { body, max, tooLong }: Appending,
): Promise<ResumableRow> {
  const checksum = await openChecksum(hold.row.checksum_state);
  const reader = createBodyReader(body.bytes);
  let { row } = hold;
  while (!hold.signal.aborted && (await reader.hasMore())) {
    const segment = reader.segment({
      maxBytes: Math.min(SEGMENT_BYTES, max - row.bytes_received),
      onChunk: (chunk) => checksum.update(chunk),
    });
    const offset = await append(needs, row, segment);
    if (offset === row.bytes_received) throw tooLong();
    row = await record(needs, hold, { offset, checksum });
  }
  if (hold.signal.aborted) throw inProgress();
  if (reader.failure !== undefined)
    throw badRequest('The body ended early. Go on from the offset that HEAD returns.', {
      reason: 'cut_short',
    });
  return row;
}

async function append(
  { store, db }: ResumableNeeds,
  row: ResumableRow,
  segment: AsyncIterable<Uint8Array>,
): Promise<number> {
  try {
    return await partialOf(store).append(keyOf(row), segment, row.bytes_received);
  } catch (error) {
    if (!(error instanceof ObjectRefused)) throw error;
    if (error.reason !== 'lost') throw diskFull('object store', error);
    await deleteUploads(db, [row.id]);
    throw notFound('The bytes of this upload are lost. Create another one.');
  }
}

async function record(
  needs: ResumableNeeds,
  { lease }: UploadHold,
  { offset, checksum }: { readonly offset: number; readonly checksum: RunningChecksum },
): Promise<ResumableRow> {
  const progress = { bytesReceived: offset, checksumState: checksum.save(), expiresAt: nextExpiry(needs) };
  const row = await recordProgress(needs.db, lease, progress);
  if (!row) throw inProgress();
  return row;
}

/** Makes the bytes the original of the asset. Can be repeated after a crash. */
async function finishResumable(
  needs: ResumableNeeds,
  asset: Asset,
  { lease, row }: Pick<UploadHold, 'lease' | 'row'>,
): Promise<Asset> {
  if (row.bytes_received === 0) throw emptyUpload();
  const sha256 = (await openChecksum(row.checksum_state)).digest();
  await partialOf(needs.store).finish(keyOf(row));
  const others = await countOtherUploads(needs.db, { id: row.id, assetId: asset.id });
  const stored = { sizeBytes: row.bytes_received, sha256 };
  const upload = { asset, uploadId: row.id, lease, stored, source: 'caller' } as const;
  const finished = await needs.finishUpload({ ...upload, hasLeftovers: others > 0 });
  if (finished) return finished;
  const seen = await needs.findAssetById(asset.id);
  if (seen?.uploaded_at && seen.original_upload === row.id) return seen;
  throw toClosedError(seen);
}

/** Removes an upload and its bytes. */
export async function terminateResumable(needs: ResumableNeeds, hold: UploadHold): Promise<void> {
  if (hold.row.finished_at)
    throw conflict('The bytes of this asset are already stored', { reason: 'already_uploaded' });
  await partialOf(needs.store).discard(keyOf(hold.row));
  await deleteHeldUpload(needs.db, hold.lease);
}

/** Removes the bytes before the rows, so that a crash in between leaves nothing that no row names. */
export async function discardUploads(
  { db, store }: Pick<ResumableNeeds, 'db' | 'store'>,
  assetId: string,
  uploads: readonly { readonly id: string }[],
): Promise<void> {
  for (const { id } of uploads) await store.partial?.discard(uploadKey(assetId, id));
  if (uploads.length > 0)
    await deleteUploads(
      db,
      uploads.map(({ id }) => id),
    );
}
