// Stores the bytes of an original under the upload lease: one writer at a time, and each writes its own
// object (contract B4).
import type { Asset } from '../assets/asset.ts';
import type { findAssetById } from '../assets/asset-lookup.ts';
import type { AssetStore } from '../lifecycle/store.ts';
import type { Bound } from '../platform/bind.ts';
import { RENEW_EVERY_MS, whileRenewing } from '../platform/concurrency/lease.ts';
import { waitAtMost } from '../platform/concurrency/in-flight.ts';
import { conflict, notFound, ServiceError } from '../platform/errors.ts';
import { diskFull } from '../platform/free-space.ts';
import { type ObjectKey, uploadKey } from '../storage/object-key.ts';
import { ObjectRefused, type ObjectStore, type StoredBytes } from '../storage/object-store.ts';
import { bytesLeft, quotaExceeded } from '../usage/quota.ts';
import type { findByteQuota, UnderQuota } from '../usage/usage.ts';
import { decideStoredUpload, type UploadSource } from './stored-upload.ts';
import { emptyUpload, otherLength, tooLarge } from './upload-length.ts';

export type OriginalNeeds = {
  readonly assetStore: Pick<AssetStore, 'update' | 'claimUpload' | 'renewUpload' | 'releaseUpload'>;
  readonly store: ObjectStore;
  readonly findAssetById: Bound<typeof findAssetById>;
  readonly maxUploadBytes: number;
  readonly uploadTtlSeconds: number;
  readonly underQuota: UnderQuota;
  readonly findByteQuota: Bound<typeof findByteQuota>;
};

type OriginalBytes = {
  /** Names the object and holds the lease; each upload needs a new one. */
  readonly uploadId: string;
  readonly source: UploadSource;
  /** Undefined if the length is not known. */
  readonly length: number | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
};

/** A hanging database must not delay the error response again. An unreleased lease expires by itself. */
const RELEASE_MS = 500;

/**
 * Stores all bytes and records them, or nothing. Throws an error of the source as the cause of a BAD_REQUEST
 * `cut_short`.
 */
export async function storeOriginal(
  needs: OriginalNeeds,
  asset: Asset,
  original: OriginalBytes,
): Promise<Asset> {
  const { assetStore } = needs;
  const { uploadId } = original;
  const lease = { everyMs: RENEW_EVERY_MS, renew: () => assetStore.renewUpload(asset.id, uploadId) };
  return whileRenewing(lease, async () => {
    try {
      const claimed = await assetStore.claimUpload(asset, uploadId);
      if (!claimed) throw await toClosedError(needs, asset.id);
      const writer: Writer = { asset, claimed, key: uploadKey(asset.id, uploadId) };
      return await storeUpload(needs, writer, original);
    } catch (error) {
      await waitAtMost(RELEASE_MS, abandonUpload(needs, asset.id, uploadId));
      throw error;
    }
  });
}

/** One writer of one asset. `claimed`: the asset after the claim. */
type Writer = { readonly asset: Asset; readonly claimed: Asset; readonly key: ObjectKey };

/**
 * Ends an upload that is not recorded yet; its writer cannot record it any more.
 * Removes the object only if the upload still held the lease: a finished upload holds none and keeps its
 * object.
 */
export async function abandonUpload(
  { assetStore, store }: Pick<OriginalNeeds, 'assetStore' | 'store'>,
  assetId: string,
  uploadId: string,
): Promise<void> {
  if (await assetStore.releaseUpload(assetId, uploadId)) await store.remove(uploadKey(assetId, uploadId));
}

/** Why the asset accepts no bytes from this writer. */
async function toClosedError(needs: OriginalNeeds, id: string): Promise<ServiceError> {
  const asset = await needs.findAssetById(id);
  if (!asset || asset.deleted_at) return notFound('No such asset');
  if (asset.uploaded_at)
    return conflict('The bytes of this asset are already stored', { reason: 'already_uploaded' });
  if (asset.stream_status !== 'pending_upload')
    return conflict('The upload is closed', { reason: asset.stream_status });
  return conflict('Another upload of this asset is in progress', { reason: 'upload_in_progress' });
}

async function storeUpload(needs: OriginalNeeds, writer: Writer, original: OriginalBytes): Promise<Asset> {
  const { asset, key } = writer;
  const stored = await writeObject(needs, writer, original);
  const { announced_size_bytes: announced } = asset;
  if (stored.sizeBytes === 0 || (announced !== null && stored.sizeBytes !== announced)) {
    await needs.store.remove(key);
    throw stored.sizeBytes === 0 ? emptyUpload() : otherLength(announced ?? 0);
  }
  const updated = await needs.underQuota(asset.owner_user_id, () =>
    recordUpload(needs, writer, { stored, source: original.source }),
  );
  if (updated) return updated;
  await needs.store.remove(key);
  throw await toClosedError(needs, asset.id);
}

/**
 * Points the asset to this writer's object; undefined if another writer took over or the upload is closed.
 */
async function recordUpload(
  { assetStore, uploadTtlSeconds }: OriginalNeeds,
  { asset, claimed }: Writer,
  { stored, source }: { stored: StoredBytes; source: UploadSource },
): Promise<Asset | undefined> {
  const updated = await assetStore.update(claimed, (seen, now) =>
    decideStoredUpload(seen, { claimed, before: asset, stored, source, now, uploadTtlSeconds }),
  );
  return updated?.decision && updated.asset;
}

async function writeObject(
  { store, maxUploadBytes, findByteQuota: findQuota }: OriginalNeeds,
  { asset, key }: Writer,
  { bytes, length }: OriginalBytes,
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
  if (error.reason === 'cut_short') return cutShort(error);
  return diskFull('object store', error);
}

const cutShort = ({ cause }: ObjectRefused) =>
  new ServiceError('BAD_REQUEST', 'The body ended early. Send the whole file again.', {
    details: { reason: 'cut_short' },
    cause,
  });
