// Takes the bytes of an original in one PUT: one writer at a time, each under a key of its own, nothing overwritten (contract B4).
import { randomUUID } from 'node:crypto';
import type { Asset } from '../assets/asset.ts';
import { isValidTicket } from '../auth/asset-ticket.ts';
import type { Secret } from '../auth/secret.ts';
import { ticketReason } from '../auth/ticket-reason.ts';
import type { AssetStore } from '../lifecycle/store.ts';
import { mediaTypeOf } from '../media/media-type.ts';
import { waitAtMost } from '../platform/concurrency/wait-at-most.ts';
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
import { RENEW_EVERY_MS, whileRenewing } from '../platform/concurrency/lease.ts';
import { type ObjectKey, uploadKey } from '../storage/object-key.ts';
import { ObjectRefused, type ObjectStore, type StoredBytes } from '../storage/object-store.ts';
import { decideUploaded } from './uploaded.ts';
import { type ByteQuota, bytesLeft, quotaExceeded } from '../usage/quota.ts';

export type TransferNeeds = {
  readonly assetStore: Pick<AssetStore, 'update' | 'claimUpload' | 'renewUpload' | 'releaseUpload'>;
  readonly store: ObjectStore;
  readonly requireDatabaseSpace: SpaceGuard;
  readonly findAssetById: (id: string) => Promise<Asset | undefined>;
  readonly urlSecrets: readonly Secret[];
  readonly maxUploadBytes: number;
  readonly uploadTtlSeconds: number;
  readonly now: () => Date;
  /** Runs what adds to the owner's usage; throws where that would exceed a quota. */
  readonly underQuota: <T>(ownerUserId: string, work: () => Promise<T>) => Promise<T>;
  readonly byteQuota: (ownerUserId: string) => Promise<ByteQuota | undefined>;
  readonly limitOwner: (ownerUserId: string) => Promise<void>;
};

/** A PUT as it begins; `length` is undefined for chunked bodies. */
export type ByteUpload = {
  readonly assetId: string;
  readonly ticket: string;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly contentRange: string | undefined;
  readonly length: number | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
};

/** A database that hangs must not delay the error response again; an unreleased lease expires after 60 s. */
const RELEASE_MS = 500;

export async function receiveUpload(needs: TransferNeeds, transfer: ByteUpload): Promise<Asset> {
  const { assetStore } = needs;
  const asset = await admitted(needs, transfer);
  await needs.limitOwner(asset.owner_user_id);
  refuseLength(asset, transfer.length, needs.maxUploadBytes);
  await needs.requireDatabaseSpace();
  const writer = randomUUID();
  const upload: Upload = { asset, writer, key: uploadKey(asset.id, writer) };
  const lease = { everyMs: RENEW_EVERY_MS, renew: () => assetStore.renewUpload(asset.id, writer) };
  return whileRenewing(lease, async () => {
    try {
      const claimed = await assetStore.claimUpload(asset, writer);
      if (!claimed) throw await whyTaken(needs, asset.id);
      return await write(needs, { ...upload, claimed }, transfer);
    } catch (error) {
      await waitAtMost(RELEASE_MS, abandon(needs, upload));
      throw error;
    }
  });
}

/** One writer at one asset: `writer` holds the lease, and names the object. */
type Upload = { readonly asset: Asset; readonly writer: string; readonly key: ObjectKey };
/** `claimed`: the asset as the claim left it. */
type ClaimedUpload = Upload & { readonly claimed: Asset };

/** Also after an error that hides whether the lease was given or the upload finished: a finished upload holds no lease, and keeps its bytes. */
async function abandon({ assetStore, store }: TransferNeeds, { asset, writer, key }: Upload): Promise<void> {
  if (await assetStore.releaseUpload(asset.id, writer)) await store.remove(key);
}

/** The asset that the ticket opens, if this body may be its bytes. */
async function admitted(
  { urlSecrets, now, findAssetById: byId }: TransferNeeds,
  transfer: ByteUpload,
): Promise<Asset> {
  const { assetId, ticket, contentType } = transfer;
  const presented = { assetId, ticket, now: now().getTime() / 1000 };
  const invalidUrl = () =>
    unauthorized('The upload URL is invalid or has expired', {
      reason: ticketReason(urlSecrets, { purpose: 'upload', token: ticket, now: presented.now }),
    });
  if (!isValidTicket(urlSecrets, 'upload', presented)) throw invalidUrl();
  requireWholeFile(transfer);
  const asset = await byId(assetId);
  if (!asset || asset.deleted_at) throw notFound('No such asset');
  // A retry opened another upload, which has a URL of its own.
  if (
    asset.stream_status === 'pending_upload' &&
    !isValidTicket(urlSecrets, 'upload', { ...presented, attempt: asset.attempt })
  )
    throw invalidUrl();
  if (contentType !== undefined && mediaTypeOf(contentType)?.mime !== asset.mime_type) {
    throw unsupportedMediaType(`Content-Type must be ${asset.mime_type}`, {
      field: 'Content-Type',
      expected: asset.mime_type,
    });
  }
  return asset;
}

/** A part of a file, or a compressed one, must not be stored as if it were the file. */
function requireWholeFile({ contentRange, contentEncoding }: ByteUpload): void {
  if (contentRange !== undefined)
    throw badRequest(
      `Content-Range "${contentRange}" is not supported: a PUT takes the whole file in one request. Send it from its first byte, without Content-Range.`,
      { field: 'Content-Range', reason: 'partial_upload', value: contentRange },
    );
  if (contentEncoding !== undefined && contentEncoding.trim().toLowerCase() !== 'identity')
    throw badRequest(
      `Content-Encoding "${contentEncoding}" is not supported. Send the file as it is, without Content-Encoding.`,
      {
        field: 'Content-Encoding',
        reason: 'encoded_upload',
        value: contentEncoding,
        allowed: ['identity'],
      },
    );
}

function refuseLength(asset: Asset, length: number | undefined, maxBytes: number): void {
  if (length === undefined) return;
  if (length === 0) throw emptyUpload();
  if (length > maxBytes) throw tooLarge(maxBytes);
  if (asset.announced_size_bytes !== null && length !== asset.announced_size_bytes)
    throw notAsAnnounced(asset.announced_size_bytes);
}

const emptyUpload = () =>
  badRequest('The upload is empty: its body has no bytes. Send the whole file in the body.', {
    reason: 'empty_upload',
  });
const tooLarge = (maxBytes: number) =>
  payloadTooLarge('The upload is over the maximum', { max_bytes: maxBytes });
const notAsAnnounced = (size: number) =>
  badRequest('The upload is not as long as size_bytes announced', { field: 'size_bytes', expected: size });

async function whyTaken({ findAssetById: byId }: TransferNeeds, id: string): Promise<ServiceError> {
  const asset = await byId(id);
  if (!asset || asset.deleted_at) return notFound('No such asset');
  if (asset.uploaded_at)
    return conflict('The bytes of this asset are there already', { reason: 'already_uploaded' });
  if (asset.stream_status !== 'pending_upload')
    return conflict('The upload is closed', { reason: asset.stream_status });
  return conflict('Another upload of this asset is under way', { reason: 'upload_in_progress' });
}

async function write(needs: TransferNeeds, upload: ClaimedUpload, transfer: ByteUpload): Promise<Asset> {
  const { asset, key } = upload;
  const stored = await put(needs, upload, transfer);
  if (stored.sizeBytes === 0) {
    await needs.store.remove(key);
    throw emptyUpload();
  }
  if (asset.announced_size_bytes !== null && stored.sizeBytes !== asset.announced_size_bytes) {
    await needs.store.remove(key);
    throw notAsAnnounced(asset.announced_size_bytes);
  }
  const done = await needs.underQuota(asset.owner_user_id, () => finish(needs, upload, stored));
  if (done) return done;
  await needs.store.remove(key);
  throw await whyTaken(needs, asset.id);
}

/** Points the asset to this writer's object; undefined if another writer took over, or the asset takes no bytes any more. The lease is the fence: its time does not matter. */
async function finish(
  { assetStore, uploadTtlSeconds }: TransferNeeds,
  { asset, claimed }: ClaimedUpload,
  stored: StoredBytes,
): Promise<Asset | undefined> {
  const updated = await assetStore.update(claimed, (seen, now) =>
    decideUploaded(seen, { claimed, before: asset, stored, now, uploadTtlSeconds }),
  );
  return updated?.decision && updated.asset;
}

async function put(
  { store, maxUploadBytes, byteQuota }: TransferNeeds,
  { asset, key }: Upload,
  { bytes, length }: ByteUpload,
): Promise<StoredBytes> {
  // Announced bytes were reserved when the upload was opened.
  const quota = asset.announced_size_bytes === null ? await byteQuota(asset.owner_user_id) : undefined;
  const room = quota ? bytesLeft(quota) : Number.POSITIVE_INFINITY;
  const overQuota = () =>
    quotaExceeded({ field: 'bytes', limit: 0, used: 0, ...quota, requested: length ?? null });
  if (length !== undefined && length > room) throw overQuota();
  try {
    const maxBytes = asset.announced_size_bytes ?? Math.min(maxUploadBytes, room);
    return await store.put(key, bytes, maxBytes);
  } catch (error) {
    if (!(error instanceof ObjectRefused)) throw error;
    throw error.reason === 'too_long' && room < maxUploadBytes
      ? overQuota()
      : asRefusal(error, asset, maxUploadBytes);
  }
}

function asRefusal(error: ObjectRefused, asset: Asset, maxBytes: number): ServiceError {
  if (error.reason === 'too_long')
    return asset.announced_size_bytes === null
      ? tooLarge(maxBytes)
      : notAsAnnounced(asset.announced_size_bytes);
  if (error.reason === 'cut_short') return badRequest('The upload broke off', { reason: 'cut_short' });
  return diskFull('object store', error);
}
