// The bytes of resumable uploads: appends them, and makes them the original of the asset (contract B4).
import { createHash } from 'node:crypto';
import type { Asset } from '../../assets/asset.ts';
import { diskFull } from '../../platform/disk/free-space.ts';
import { badRequest, notFound, type ServiceError } from '../../platform/http/errors.ts';
import { ObjectStoreError, type PartialObject } from '../../storage/object-store.ts';
import { isQuotaExceeded } from '../../usage/quota.ts';
import type { UploadsContext } from '../context.ts';
import { findByteLimit } from '../original/byte-limit.ts';
import { discardIdleUploads, type LeasedUpload, type ResumableRow } from '../original/leased-uploads.ts';
import { finishUpload } from '../original/store-original.ts';
import { emptyUpload, inProgress, moreThanAnnounced, toClosedError } from '../original/upload-errors.ts';
import { deleteHeldUpload } from '../original/uploads.sql.ts';
import { type BodyReader, createBodyReader, type UploadBody } from './body-reader.ts';
import { partialOf, segmentBytesAt, toPartial } from './partial-bytes.ts';
import { findUploadContext, recordProgress } from './resumable-uploads.sql.ts';

/** A slower client has its bytes recorded after this time. */
const SEGMENT_MS = 10_000;

/**
 * Appends the bytes of a request and returns the row with the new offset. All bytes up to it are durable,
 * also if this throws.
 */
export async function appendBytes(
  ctx: UploadsContext,
  asset: Asset,
  { leased, body }: { readonly leased: LeasedUpload; readonly body: UploadBody },
): Promise<ResumableRow> {
  if (leased.row.finished_at || isCompletePart(leased.row)) return leased.row;
  const { max, tooLong } = await findLimit(ctx, asset, leased.row);
  if (body.length !== undefined && leased.row.bytes_received + body.length > max) throw tooLong();
  await ctx.admission.requireDatabaseSpace();
  const row = await appendSegments(ctx, leased, { asset, body, max, tooLong });
  if (row.size_bytes === row.bytes_received && row.concatenation !== 'partial')
    await finishResumable(ctx, asset, { ...leased, row });
  return row;
}

/** Its bytes are an object, perhaps, which a final upload reads. */
const isCompletePart = ({ concatenation, size_bytes: size, bytes_received: received }: ResumableRow) =>
  concatenation === 'partial' && size === received;

type Limit = { readonly max: number; readonly tooLong: () => ServiceError };

/** The protocol has 413 for more bytes than announced, where a PUT has 400. */
async function findLimit(
  ctx: UploadsContext,
  asset: Asset,
  { size_bytes: length, bytes_received: received, concatenation }: ResumableRow,
): Promise<Limit> {
  // Its parts are counted already, and removed while they are joined.
  if (concatenation === 'final' && length !== null)
    return { max: length, tooLong: () => moreThanAnnounced(length) };
  const { maxBytes, tooLong } = await findByteLimit(ctx, asset, { length: length ?? undefined, received });
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
  ctx: UploadsContext,
  leased: LeasedUpload,
  appending: Appending,
): Promise<ResumableRow> {
  const reader = createBodyReader(appending.body.bytes);
  let { row } = leased;
  leased.signal.addEventListener('abort', reader.stop, { once: true });
  try {
    while (!leased.signal.aborted && (await reader.hasMore()))
      row = await appendSegment(ctx, { ...leased, row }, { ...appending, reader });
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
  ctx: UploadsContext,
  leased: LeasedUpload,
  { asset, reader, max, tooLong }: Appending & { readonly reader: BodyReader },
): Promise<ResumableRow> {
  const { id, bytes_received: start } = leased.row;
  const checksum = ctx.intake.checksums.take(id, start);
  const endsAt = performance.now() + SEGMENT_MS;
  const segment = reader.segment({
    maxBytes: Math.min(segmentBytesAt(start), max - start),
    isDue: () => performance.now() > endsAt,
    onChunk: (chunk) => checksum?.update(chunk),
  });
  const appended = await unlessLost(ctx, leased, () =>
    partialOf(ctx.store).append(toPartial(leased.row), segment, ctx.settings.maxUploadBytes),
  );
  if (appended.length === start) throw tooLong();
  const row = await record(ctx, asset, { leased, appended });
  if (checksum) ctx.intake.checksums.keep(id, appended.length, checksum);
  return row;
}

/** Ends an upload whose bytes the store has lost. */
async function unlessLost<T>(
  { db }: UploadsContext,
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
  ctx: UploadsContext,
  asset: Asset,
  { leased, appended }: Appended,
): Promise<ResumableRow> {
  const { uploadTtlSeconds, uploadMaxAgeSeconds: maxAgeSeconds } = ctx.settings;
  const expiresAt = new Date(ctx.clocks.now().getTime() + uploadTtlSeconds * 1000);
  const progress = { bytesReceived: appended.length, target: appended.state, expiresAt, maxAgeSeconds };
  const write = () =>
    ctx.usage.underQuota(asset.owner_user_id, () => recordProgress(ctx.db, leased.lease, progress));
  const row = await write().catch(async (error: unknown) => {
    if (!isQuotaExceeded(error)) throw error;
    // Uploads of a client that lost their URLs count too.
    if ((await discardIdleUploads(ctx, asset.id, 1)) > 0) return write().catch(undo);
    return undo(error);
  });
  if (!row) throw inProgress();
  return row;

  async function undo(error: unknown): Promise<never> {
    await removeUnrecorded(ctx, leased.row);
    throw error;
  }
}

/** The offset of the row is where the next bytes go; an append of nothing cuts the object there. */
async function removeUnrecorded({ store, settings }: UploadsContext, row: ResumableRow): Promise<void> {
  await partialOf(store).append(toPartial(row), noBytes(), settings.maxUploadBytes);
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}

/**
 * Makes the bytes the original of the asset. Can be repeated after a crash. Does not end for requests that
 * wait, because those would have to begin again.
 */
export async function finishResumable(
  ctx: UploadsContext,
  asset: Asset,
  { lease, row }: Pick<LeasedUpload, 'lease' | 'row'>,
): Promise<Asset> {
  const { id, bytes_received: sizeBytes } = row;
  if (sizeBytes === 0) throw emptyUpload();
  await unlessLost(ctx, { lease }, () => partialOf(ctx.store).finish(toPartial(row)));
  const stored = { sizeBytes, sha256: await digestOf(ctx, row) };
  const context = await findUploadContext(ctx.db, { id, assetId: asset.id });
  const source = context?.is_import ? 'service' : 'caller';
  const upload = { asset, uploadId: id, lease, stored, source } as const;
  const finished = await finishUpload(ctx, { ...upload, mayHaveOrphans: (context?.others ?? 0) > 0 });
  const seen = finished ?? (await ctx.lifecycle.findAssetById(asset.id));
  if (!seen?.uploaded_at || seen.original_upload !== id) throw toClosedError(seen);
  ctx.intake.checksums.forget(id);
  return seen;
}

/** Reads the bytes again if this process did not receive all of them. */
async function digestOf(
  { intake: { checksums }, store }: UploadsContext,
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
