// Stores the bytes of an original under a lease: one writer at a time, and each writes its own object
// (contract B4).
import type { Asset } from '../../assets/asset.ts';
import type { findAssetById } from '../../assets/asset-lookup.ts';
import type { UploadLease } from '../../lifecycle/decisions/change.ts';
import type { findDuplicate } from '../../lifecycle/reports.ts';
import type { AssetStore } from '../../lifecycle/store.ts';
import type { Bound } from '../../platform/bind.ts';
import { createBatcher } from '../../platform/concurrency/batcher.ts';
import { RENEW_REQUEST_EVERY_MS, whileRenewing } from '../../platform/concurrency/lease.ts';
import { waitAtMost } from '../../platform/concurrency/in-flight.ts';
import { ServiceError } from '../../platform/http/errors.ts';
import { diskFull, type SpaceGuard } from '../../platform/disk/free-space.ts';
import type { Queries } from '../../platform/postgres/database.ts';
import { uploadKey } from '../../storage/object-key.ts';
import { ObjectStoreError, type ObjectStore, type StoredBytes } from '../../storage/object-store.ts';
import { bytesLeft, quotaExceeded } from '../../usage/quota.ts';
import type { findByteQuota, UnderQuota } from '../../usage/usage.ts';
import { countBytes } from './counted-bytes.ts';
import { decideStoredUpload, type UploadedBytes, type UploadSource } from './stored-upload.ts';
import { assertLength, emptyUpload, otherLength, toClosedError, tooLarge } from './upload-errors.ts';
import {
  type ClaimedPut,
  claimPuts,
  deleteHeldUpload,
  findWriterSeconds,
  type PutClaim,
  renewLease,
  type WriterProtocol,
} from './uploads.sql.ts';

type ClaimPut = (claim: PutClaim) => Promise<ClaimedPut | undefined>;

export type OriginalNeeds = {
  readonly db: Queries;
  /** Undefined if another PUT of the asset runs, or the upload is closed. */
  readonly claimPut: ClaimPut;
  readonly assetStore: Pick<AssetStore, 'update'>;
  readonly store: ObjectStore;
  readonly requireDatabaseSpace: SpaceGuard;
  readonly findAssetById: Bound<typeof findAssetById>;
  readonly findDuplicate: Bound<typeof findDuplicate>;
  readonly maxUploadBytes: number;
  readonly uploadTtlSeconds: number;
  /** The largest file that gets a presigned PUT. */
  readonly multipartUploadBytes: number;
  readonly underQuota: UnderQuota;
  readonly findByteQuota: Bound<typeof findByteQuota>;
};

export type OriginalBytes = {
  /** Names the object and holds the lease; each upload needs a new one. */
  readonly uploadId: string;
  readonly protocol: WriterProtocol;
  /** Undefined if it is not known before the bytes are. */
  readonly length: number | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Whether an upload that was not recorded may have left an object. */
  readonly mayHaveOrphans?: boolean | undefined;
};

/** A hanging database must not delay the error response again. An unreleased lease expires by itself. */
const RELEASE_MS = 500;

/**
 * Returns the asset with its original. Throws if the bytes are refused, or if another upload runs or
 * finished.
 */
export async function storeOriginal(
  needs: OriginalNeeds,
  asset: Asset,
  original: OriginalBytes,
): Promise<Asset> {
  const { db } = needs;
  assertLength(asset, original.length, needs.maxUploadBytes);
  await needs.requireDatabaseSpace();
  const { uploadId: id, protocol } = original;
  const source: UploadSource = protocol === 'put' ? 'caller' : 'service';
  const lease: UploadLease = { upload: id, holder: id };
  const counted = countBytes(original.bytes);
  const renew = () =>
    needs
      .underQuota(asset.owner_user_id, () => renewLease(db, lease, counted.received()))
      .catch(counted.refuse);
  return whileRenewing({ everyMs: RENEW_REQUEST_EVERY_MS, renew }, async () => {
    try {
      const claimed = await needs.claimPut(toClaim(asset, original));
      if (!claimed) throw await findRefusal(needs, asset);
      const findByteQuota = claimed.has_byte_limit ? needs.findByteQuota : findNoQuota;
      const stored = await writeObject(
        { ...needs, findByteQuota },
        { asset, lease },
        { ...original, bytes: counted.bytes },
      );
      const mayHaveOrphans = claimed.has_replaced || original.mayHaveOrphans === true;
      const upload = { asset, uploadId: id, lease, stored, source, mayHaveOrphans };
      const finished = await finishUpload(needs, upload);
      if (finished) return finished;
      await needs.store.remove(uploadKey(asset.id, id));
      throw await findRefusal(needs, asset);
    } catch (error) {
      await waitAtMost(RELEASE_MS, abandonUpload(needs, asset.id, id));
      throw counted.refusal() ?? error;
    }
  });
}

/** A killed writer holds its lease until it expires, so the client is told when that is. */
async function findRefusal(
  { db, findAssetById: find }: Pick<OriginalNeeds, 'db' | 'findAssetById'>,
  asset: Asset,
): Promise<ServiceError> {
  const [seen, seconds] = await Promise.all([find(asset.id), findWriterSeconds(db, asset)]);
  return toClosedError(seen, seconds);
}

const toClaim = ({ id, attempt }: Asset, { uploadId, protocol, length }: OriginalBytes): PutClaim => ({
  id,
  attempt,
  upload: uploadId,
  protocol,
  sizeBytes: length ?? null,
});

const findNoQuota: OriginalNeeds['findByteQuota'] = () => Promise.resolve(undefined);

/** Two concurrent statements keep the database busy while this process reads a result. */
const LIMITS = { concurrency: 2, maxItems: 100 };

/** Concurrent PUTs share the statements that open them. */
export const createPutClaims = ({ db }: Pick<OriginalNeeds, 'db'>): ClaimPut =>
  createBatcher((claims: readonly PutClaim[]) => claimPuts(db, claims), LIMITS);

/** A request that writes an upload of an asset. */
type Writer = { readonly asset: Asset; readonly lease: UploadLease };

/**
 * Ends a PUT, an import or a clip that did not finish, which then cannot finish any more. Removes the object
 * only if the upload still held its lease: a finished one keeps its object.
 */
export async function abandonUpload(
  { db, store }: Pick<OriginalNeeds, 'db' | 'store'>,
  assetId: string,
  uploadId: string,
): Promise<void> {
  const lease = { upload: uploadId, holder: uploadId };
  if (await deleteHeldUpload(db, lease)) await store.remove(uploadKey(assetId, uploadId));
}

type FinishedUpload = {
  readonly asset: Asset;
  readonly uploadId: string;
  /** Undefined if the upload has no row. */
  readonly lease?: UploadLease;
  readonly stored: UploadedBytes;
  readonly source: UploadSource;
  readonly mayHaveOrphans: boolean;
};

type FinishNeeds = Pick<
  OriginalNeeds,
  'assetStore' | 'findDuplicate' | 'underQuota' | 'uploadTtlSeconds' | 'multipartUploadBytes' | 'store'
>;

/**
 * Points the asset to the stored object, and to an earlier asset with the same bytes. Undefined if the upload
 * is closed or its lease is lost.
 */
export async function finishUpload(
  needs: FinishNeeds,
  { asset, ...upload }: FinishedUpload,
): Promise<Asset | undefined> {
  const { assetStore, findDuplicate, underQuota, uploadTtlSeconds } = needs;
  const { sha256 } = upload.stored;
  const duplicateOf = sha256 === null ? null : await findDuplicate(asset, sha256);
  const mayHaveOrphans =
    upload.mayHaveOrphans || (upload.lease !== undefined && hasPresignedUrl(needs, asset));
  const finish = { attempt: asset.attempt, ...upload, mayHaveOrphans, duplicateOf, uploadTtlSeconds };
  const updated = await underQuota(asset.owner_user_id, () =>
    assetStore.update(asset, (seen, now) => decideStoredUpload(seen, { ...finish, now })),
  );
  return updated?.decision && updated.asset;
}

/** The client may still send bytes there. */
const hasPresignedUrl = (
  { store, multipartUploadBytes }: FinishNeeds,
  { announced_size_bytes: announced }: Asset,
): boolean => store.direct !== undefined && announced !== null && announced <= multipartUploadBytes;

async function writeObject(
  needs: OriginalNeeds,
  { asset, lease }: Writer,
  original: OriginalBytes,
): Promise<StoredBytes> {
  const limit = await findByteLimit(needs, asset, { length: original.length });
  const key = uploadKey(asset.id, lease.upload);
  const stored = await needs.store.put(key, original.bytes, limit.maxBytes).catch((error: unknown) => {
    throw error instanceof ObjectStoreError ? toUploadError(error, limit.tooLong) : error;
  });
  const { announced_size_bytes: announced } = asset;
  if (stored.sizeBytes > 0 && (announced === null || stored.sizeBytes === announced)) return stored;
  await needs.store.remove(key);
  throw stored.sizeBytes === 0 ? emptyUpload() : otherLength(announced ?? 0);
}

/** `tooLong` is the error of more bytes. */
type ByteLimit = { readonly maxBytes: number; readonly tooLong: () => ServiceError };

type KnownBytes = {
  readonly length: number | undefined;
  /** Bytes of this upload that the usage counts already. */
  readonly received?: number;
};

/** How many bytes the asset takes. Throws if `length` is over the owner's quota. */
export async function findByteLimit(
  { maxUploadBytes, findByteQuota: findQuota }: Pick<OriginalNeeds, 'maxUploadBytes' | 'findByteQuota'>,
  { announced_size_bytes: announced, owner_user_id: owner }: Asset,
  { length, received = 0 }: KnownBytes,
): Promise<ByteLimit> {
  // createUpload reserved the announced bytes already.
  if (announced !== null) return { maxBytes: announced, tooLong: () => otherLength(announced) };
  const quota = await findQuota(owner);
  const quotaBytes = quota ? received + bytesLeft(quota) : Number.POSITIVE_INFINITY;
  const requested = length === undefined ? null : length - received;
  const overQuota = () => quotaExceeded({ field: 'bytes', limit: 0, used: 0, ...quota, requested });
  if (length !== undefined && length > quotaBytes) throw overQuota();
  return quotaBytes < maxUploadBytes
    ? { maxBytes: quotaBytes, tooLong: overQuota }
    : { maxBytes: maxUploadBytes, tooLong: () => tooLarge(maxUploadBytes) };
}

function toUploadError(error: ObjectStoreError, tooLong: () => ServiceError): ServiceError {
  if (error.reason === 'too_long') return tooLong();
  if (error.reason === 'cut_short')
    return new ServiceError('BAD_REQUEST', 'The body ended early. Send the whole file again.', {
      details: { reason: 'body_cut_short' },
      cause: error.cause,
    });
  return diskFull('object store', error);
}
