// Receives an original in one PUT: one writer at a time, each with its own object (contract B4).
import { randomUUID } from 'node:crypto';
import type { Asset } from '../assets/asset.ts';
import type { findAssetById } from '../assets/asset-lookup.ts';
import { isValidTicket, ticketReason } from '../auth/asset-ticket.ts';
import type { Secret } from '../auth/secret.ts';
import type { AssetStore } from '../lifecycle/store.ts';
import { findMediaType } from '../media/media-type.ts';
import type { Bound } from '../platform/bind.ts';
import { RENEW_EVERY_MS, whileRenewing } from '../platform/concurrency/lease.ts';
import { waitAtMost } from '../platform/concurrency/in-flight.ts';
import {
  badRequest,
  conflict,
  notFound,
  payloadTooLarge,
  type ServiceError,
  unauthorized,
  unsupportedMediaType,
} from '../platform/errors.ts';
import { diskFull, type SpaceGuard } from '../platform/free-space.ts';
import { type ObjectKey, uploadKey } from '../storage/object-key.ts';
import { ObjectRefused, type ObjectStore, type StoredBytes } from '../storage/object-store.ts';
import { bytesLeft, quotaExceeded } from '../usage/quota.ts';
import type { findByteQuota, UnderQuota } from '../usage/usage.ts';
import { decideStoredUpload } from './stored-upload.ts';

export type ByteUploadNeeds = {
  readonly assetStore: Pick<AssetStore, 'update' | 'claimUpload' | 'renewUpload' | 'releaseUpload'>;
  readonly store: ObjectStore;
  readonly requireDatabaseSpace: SpaceGuard;
  readonly findAssetById: Bound<typeof findAssetById>;
  readonly urlSecrets: readonly Secret[];
  readonly maxUploadBytes: number;
  readonly uploadTtlSeconds: number;
  readonly now: () => Date;
  readonly underQuota: UnderQuota;
  readonly findByteQuota: Bound<typeof findByteQuota>;
  /** Throws RATE_LIMITED when the owner sends too many requests. */
  readonly limitOwner: (ownerUserId: string) => Promise<void>;
};

/** A PUT request before its body is read; `length` is undefined for chunked bodies. */
export type ByteUpload = {
  readonly assetId: string;
  readonly ticket: string;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly contentRange: string | undefined;
  readonly length: number | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
};

/** A hanging database must not delay the error response again. An unreleased lease expires by itself. */
const RELEASE_MS = 500;

export async function receiveUpload(needs: ByteUploadNeeds, upload: ByteUpload): Promise<Asset> {
  const { assetStore } = needs;
  const asset = await getUploadAsset(needs, upload);
  await needs.limitOwner(asset.owner_user_id);
  assertLength(asset, upload.length, needs.maxUploadBytes);
  await needs.requireDatabaseSpace();
  const id = randomUUID();
  const writer: Writer = { asset, id, key: uploadKey(asset.id, id) };
  const lease = { everyMs: RENEW_EVERY_MS, renew: () => assetStore.renewUpload(asset.id, id) };
  return whileRenewing(lease, async () => {
    try {
      const claimed = await assetStore.claimUpload(asset, id);
      if (!claimed) throw await toClosedError(needs, asset.id);
      return await storeUpload(needs, { ...writer, claimed }, upload);
    } catch (error) {
      await waitAtMost(RELEASE_MS, abandonUpload(needs, writer));
      throw error;
    }
  });
}

/** One writer of one asset: `id` holds the lease and names the object. */
type Writer = { readonly asset: Asset; readonly id: string; readonly key: ObjectKey };
/** `claimed`: the asset after the claim. */
type ClaimedWriter = Writer & { readonly claimed: Asset };

/** Removes the object only if this writer still held the lease: a finished upload holds none and keeps it. */
async function abandonUpload({ assetStore, store }: ByteUploadNeeds, { asset, id, key }: Writer) {
  if (await assetStore.releaseUpload(asset.id, id)) await store.remove(key);
}

/** Validates ticket and headers, and returns the asset that expects these bytes. */
async function getUploadAsset(needs: ByteUploadNeeds, upload: ByteUpload): Promise<Asset> {
  const { assetId, contentType } = upload;
  assertTicket(needs, upload);
  assertWholeFile(upload);
  const asset = await needs.findAssetById(assetId);
  if (!asset || asset.deleted_at) throw notFound('No such asset');
  // A retry opened another upload, which has its own URL.
  if (asset.stream_status === 'pending_upload') assertTicket(needs, upload, asset.attempt);
  if (contentType !== undefined && findMediaType(contentType)?.mime !== asset.mime_type) {
    throw unsupportedMediaType(`Content-Type must be ${asset.mime_type}`, {
      field: 'Content-Type',
      expected: asset.mime_type,
    });
  }
  return asset;
}

function assertTicket(
  { urlSecrets, now }: ByteUploadNeeds,
  { assetId, ticket }: ByteUpload,
  attempt?: number,
): void {
  const seconds = now().getTime() / 1000;
  const presented = { assetId, ticket, now: seconds, ...(attempt !== undefined && { attempt }) };
  if (isValidTicket(urlSecrets, 'upload', presented)) return;
  throw unauthorized('The upload URL is invalid or has expired', {
    reason: ticketReason(urlSecrets, { purpose: 'upload', token: ticket, now: seconds }),
  });
}

/** A part of a file, or a compressed file, must not be stored as the file. */
function assertWholeFile({ contentRange, contentEncoding }: ByteUpload): void {
  if (contentRange !== undefined)
    throw badRequest(
      `Content-Range "${contentRange}" is not supported: a PUT takes the whole file in one request. ` +
        'Send it from its first byte, without Content-Range.',
      { field: 'Content-Range', reason: 'partial_upload', value: contentRange },
    );
  if (contentEncoding !== undefined && contentEncoding.trim().toLowerCase() !== 'identity')
    throw badRequest(
      `Content-Encoding "${contentEncoding}" is not supported. ` +
        'Send the file as it is, without Content-Encoding.',
      {
        field: 'Content-Encoding',
        reason: 'encoded_upload',
        value: contentEncoding,
        allowed: ['identity'],
      },
    );
}

function assertLength(asset: Asset, length: number | undefined, maxBytes: number): void {
  if (length === undefined) return;
  if (length === 0) throw emptyUpload();
  if (length > maxBytes) throw tooLarge(maxBytes);
  if (asset.announced_size_bytes !== null && length !== asset.announced_size_bytes)
    throw otherLength(asset.announced_size_bytes);
}

const emptyUpload = () =>
  badRequest('The upload is empty: its body has no bytes. Send the whole file in the body.', {
    reason: 'empty_upload',
  });
const tooLarge = (maxBytes: number) =>
  payloadTooLarge(`The upload is larger than the maximum of ${maxBytes} bytes`, { max_bytes: maxBytes });
const otherLength = (size: number) =>
  badRequest(`The upload has another length than the announced size_bytes of ${size}`, {
    field: 'size_bytes',
    expected: size,
  });

/** Why the asset accepts no bytes from this writer. */
async function toClosedError(needs: ByteUploadNeeds, id: string): Promise<ServiceError> {
  const asset = await needs.findAssetById(id);
  if (!asset || asset.deleted_at) return notFound('No such asset');
  if (asset.uploaded_at)
    return conflict('The bytes of this asset are already stored', { reason: 'already_uploaded' });
  if (asset.stream_status !== 'pending_upload')
    return conflict('The upload is closed', { reason: asset.stream_status });
  return conflict('Another upload of this asset is in progress', { reason: 'upload_in_progress' });
}

async function storeUpload(
  needs: ByteUploadNeeds,
  writer: ClaimedWriter,
  upload: ByteUpload,
): Promise<Asset> {
  const { asset, key } = writer;
  const stored = await writeObject(needs, writer, upload);
  const { announced_size_bytes: announced } = asset;
  if (stored.sizeBytes === 0 || (announced !== null && stored.sizeBytes !== announced)) {
    await needs.store.remove(key);
    throw stored.sizeBytes === 0 ? emptyUpload() : otherLength(announced ?? 0);
  }
  const updated = await needs.underQuota(asset.owner_user_id, () => recordUpload(needs, writer, stored));
  if (updated) return updated;
  await needs.store.remove(key);
  throw await toClosedError(needs, asset.id);
}

/** Points the asset to this writer's object; undefined if the lease is lost or the upload is closed. */
async function recordUpload(
  { assetStore, uploadTtlSeconds }: ByteUploadNeeds,
  { asset, claimed }: ClaimedWriter,
  stored: StoredBytes,
): Promise<Asset | undefined> {
  const updated = await assetStore.update(claimed, (seen, now) =>
    decideStoredUpload(seen, { claimed, before: asset, stored, now, uploadTtlSeconds }),
  );
  return updated?.decision && updated.asset;
}

async function writeObject(
  { store, maxUploadBytes, findByteQuota: findQuota }: ByteUploadNeeds,
  { asset, key }: Writer,
  { bytes, length }: ByteUpload,
): Promise<StoredBytes> {
  // createUpload reserved the announced bytes already.
  const quota = asset.announced_size_bytes === null ? await findQuota(asset.owner_user_id) : undefined;
  const quotaBytes = quota ? bytesLeft(quota) : Number.POSITIVE_INFINITY;
  const overQuota = () =>
    quotaExceeded({ field: 'bytes', limit: 0, used: 0, ...quota, requested: length ?? null });
  if (length !== undefined && length > quotaBytes) throw overQuota();
  try {
    const maxBytes = asset.announced_size_bytes ?? Math.min(maxUploadBytes, quotaBytes);
    return await store.put(key, bytes, maxBytes);
  } catch (error) {
    if (!(error instanceof ObjectRefused)) throw error;
    throw error.reason === 'too_long' && quotaBytes < maxUploadBytes
      ? overQuota()
      : toUploadError(error, asset, maxUploadBytes);
  }
}

function toUploadError(error: ObjectRefused, asset: Asset, maxBytes: number): ServiceError {
  if (error.reason === 'too_long')
    return asset.announced_size_bytes === null ? tooLarge(maxBytes) : otherLength(asset.announced_size_bytes);
  if (error.reason === 'cut_short')
    return badRequest('The body ended early. Send the whole file again.', { reason: 'cut_short' });
  return diskFull('object store', error);
}
