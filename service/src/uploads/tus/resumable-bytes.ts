// The bytes of resumable uploads: appends them, and makes them the original of the asset (contract B4).
import { createHash } from 'node:crypto';
import type { Asset } from '../../assets/asset.ts';
import type { Bound } from '../../platform/bind.ts';
import { badRequest, notFound, type ServiceError } from '../../platform/http/errors.ts';
import { diskFull } from '../../platform/disk/free-space.ts';
import { ObjectStoreError, type PartialObject } from '../../storage/object-store.ts';
import { isQuotaExceeded } from '../../usage/quota.ts';
import { type BodyReader, createBodyReader, type UploadBody } from './body-reader.ts';
import { partialOf, segmentBytesAt, toPartial } from './partial-bytes.ts';
import { findUploadContext, recordProgress } from './resumable-uploads.sql.ts';
import type { RunningChecksums } from '../original/running-checksum.ts';
import type { findByteLimit, finishUpload, OriginalNeeds } from '../original/store-original.ts';
import { emptyUpload, inProgress, moreThanAnnounced, toClosedError } from '../original/upload-errors.ts';
import type { discardIdleUploads, ResumableRow, LeasedUpload } from '../original/leased-uploads.ts';
import { deleteHeldUpload } from '../original/uploads.sql.ts';

type BytesNeeds = Pick<
  OriginalNeeds,
  | 'db'
  | 'store'
  | 'findAssetById'
  | 'requireDatabaseSpace'
  | 'maxUploadBytes'
  | 'uploadTtlSeconds'
  | 'underQuota'
> & {
  readonly uploadMaxAgeSeconds: number;
  readonly discardIdleUploads: Bound<typeof discardIdleUploads>;
  readonly findByteLimit: Bound<typeof findByteLimit>;
  readonly finishUpload: Bound<typeof finishUpload>;
  readonly checksums: RunningChecksums;
  readonly now: () => Date;
};

/** A slower client has its bytes recorded after this time. */
const SEGMENT_MS = 10_000;

/**
 * Appends the bytes of a request and returns the row with the new offset. All bytes up to it are durable,
 * also if this throws.
 */
export async function appendBytes(
  needs: BytesNeeds,
  asset: Asset,
  { leased, body }: { readonly leased: LeasedUpload; readonly body: UploadBody },
): Promise<ResumableRow> {
  if (leased.row.finished_at || isCompletePart(leased.row)) return leased.row;
  const { max, tooLong } = await findLimit(needs, asset, leased.row);
  if (body.length !== undefined && leased.row.bytes_received + body.length > max) throw tooLong();
  await needs.requireDatabaseSpace();
  const row = await appendSegments(needs, leased, { asset, body, max, tooLong });
  if (row.size_bytes === row.bytes_received && row.concatenation !== 'partial')
    await finishResumable(needs, asset, { ...leased, row });
  return row;
}

/** Its bytes are an object, perhaps, which a final upload reads. */
const isCompletePart = ({ concatenation, size_bytes: size, bytes_received: received }: ResumableRow) =>
  concatenation === 'partial' && size === received;

type Limit = { readonly max: number; readonly tooLong: () => ServiceError };

/** The protocol has 413 for more bytes than announced, where a PUT has 400. */
async function findLimit(
  { findByteLimit: find }: Pick<BytesNeeds, 'findByteLimit'>,
  asset: Asset,
  { size_bytes: length, bytes_received: received, concatenation }: ResumableRow,
): Promise<Limit> {
  // Its parts are counted already, and removed while they are joined.
  if (concatenation === 'final' && length !== null)
    return { max: length, tooLong: () => moreThanAnnounced(length) };
  const { maxBytes, tooLong } = await find(asset, { length: length ?? undefined, received });
  const announced = length ?? asset.announced_size_bytes;
  return announced === null
    ? { max: maxBytes, tooLong }
    : { max: announced, tooLong: () => moreThanAnnounced(announced) };
}

type Appending = Limit & {
  readonly asset: Asset;
  readonly body: UploadBody;
};

/** Ends early when another request waits. */
async function appendSegments(
  needs: BytesNeeds,
  leased: LeasedUpload,
  appending: Appending,
): Promise<ResumableRow> {
  const reader = createBodyReader(appending.body.bytes);
  let { row } = leased;
  leased.signal.addEventListener('abort', reader.stop, { once: true });
  try {
    while (!leased.signal.aborted && (await reader.hasMore()))
      row = await appendSegment(needs, { ...leased, row }, { ...appending, reader });
  } finally {
    leased.signal.removeEventListener('abort', reader.stop);
    reader.stop();
  }
  if (row.size_bytes === row.bytes_received) return row;
  if (leased.signal.aborted) throw inProgress();
  if (reader.failure !== undefined)
    throw badRequest('The body ended early. Go on from the offset that HEAD returns.', {
      reason: 'body_cut_short',
    });
  return row;
}

async function appendSegment(
  needs: BytesNeeds,
  leased: LeasedUpload,
  { asset, reader, max, tooLong }: Appending & { readonly reader: BodyReader },
): Promise<ResumableRow> {
  const { id, bytes_received: start } = leased.row;
  const checksum = needs.checksums.take(id, start);
  const endsAt = performance.now() + SEGMENT_MS;
  const segment = reader.segment({
    maxBytes: Math.min(segmentBytesAt(start), max - start),
    isDue: () => performance.now() > endsAt,
    onChunk: (chunk) => checksum?.update(chunk),
  });
  const appended = await unlessLost(needs, leased, () =>
    partialOf(needs.store).append(toPartial(leased.row), segment, needs.maxUploadBytes),
  );
  if (appended.length === start) throw tooLong();
  const row = await record(needs, asset, { leased, appended });
  if (checksum) needs.checksums.keep(id, appended.length, checksum);
  return row;
}

/** Ends an upload whose bytes the store has lost. */
async function unlessLost<T>(
  { db }: Pick<BytesNeeds, 'db'>,
  { lease }: Pick<LeasedUpload, 'lease'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ObjectStoreError)) throw error;
    if (error.reason !== 'lost') throw diskFull('object store', error);
    await deleteHeldUpload(db, lease);
    throw notFound('The bytes of this upload are lost. Create another one.');
  }
}

type Appended = { readonly leased: LeasedUpload; readonly appended: PartialObject };

/**
 * Records the new offset, which counts the bytes in the owner's usage. Over the quota it removes the bytes
 * again, so that the store holds none that are not counted.
 */
async function record(
  needs: BytesNeeds,
  asset: Asset,
  { leased, appended }: Appended,
): Promise<ResumableRow> {
  const { now, uploadTtlSeconds, uploadMaxAgeSeconds: maxAgeSeconds } = needs;
  const expiresAt = new Date(now().getTime() + uploadTtlSeconds * 1000);
  const progress = { bytesReceived: appended.length, target: appended.state, expiresAt, maxAgeSeconds };
  const write = () =>
    needs.underQuota(asset.owner_user_id, () => recordProgress(needs.db, leased.lease, progress));
  const row = await write().catch(async (error: unknown) => {
    if (!isQuotaExceeded(error)) throw error;
    // Uploads of a client that lost their URLs count too.
    if ((await needs.discardIdleUploads(asset.id, 1)) > 0) return write().catch(undo);
    return undo(error);
  });
  if (!row) throw inProgress();
  return row;

  async function undo(error: unknown): Promise<never> {
    await removeUnrecorded(needs, leased.row);
    throw error;
  }
}

/** The offset of the row is where the next bytes go; an append of nothing cuts the object there. */
async function removeUnrecorded({ store, maxUploadBytes }: BytesNeeds, row: ResumableRow): Promise<void> {
  await partialOf(store).append(toPartial(row), noBytes(), maxUploadBytes);
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}

/**
 * Makes the bytes the original of the asset. Can be repeated after a crash. Does not end for requests that
 * wait, because those would have to begin again.
 */
export async function finishResumable(
  needs: BytesNeeds,
  asset: Asset,
  { lease, row }: Pick<LeasedUpload, 'lease' | 'row'>,
): Promise<Asset> {
  const { id, bytes_received: sizeBytes } = row;
  if (sizeBytes === 0) throw emptyUpload();
  await unlessLost(needs, { lease }, () => partialOf(needs.store).finish(toPartial(row)));
  const stored = { sizeBytes, sha256: await digestOf(needs, row) };
  const context = await findUploadContext(needs.db, { id, assetId: asset.id });
  const source = context?.is_import ? 'service' : 'caller';
  const upload = { asset, uploadId: id, lease, stored, source } as const;
  const finished = await needs.finishUpload({ ...upload, mayHaveOrphans: (context?.others ?? 0) > 0 });
  const seen = finished ?? (await needs.findAssetById(asset.id));
  if (!seen?.uploaded_at || seen.original_upload !== id) throw toClosedError(seen);
  needs.checksums.forget(id);
  return seen;
}

/** Reads the bytes again if this process did not receive all of them. */
async function digestOf(
  { checksums, store }: Pick<BytesNeeds, 'checksums' | 'store'>,
  row: ResumableRow,
): Promise<string> {
  const { id, bytes_received: length } = row;
  const known = checksums.findDigest(id, length);
  if (known !== undefined) return known;
  const hash = createHash('sha256');
  for await (const chunk of store.stream(toPartial(row).key)) hash.update(chunk);
  checksums.keep(id, length, hash);
  return hash.copy().digest('hex');
}
