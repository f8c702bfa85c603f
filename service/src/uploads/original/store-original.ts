// Stores the bytes of an original under a lease: one writer at a time, and each writes its own object
// (contract B4).
import type { Asset } from '../../assets/asset.ts';
import type { JobRequest } from '../../jobs.ts';
import type { UploadLease } from '../../lifecycle/decisions/change.ts';
import { createBatcher, STATEMENT_LIMITS } from '../../platform/concurrency/batcher.ts';
import { waitAtMost } from '../../platform/concurrency/in-flight.ts';
import { RENEW_REQUEST_EVERY_MS, whileRenewing } from '../../platform/concurrency/lease.ts';
import { diskFull } from '../../platform/disk/free-space.ts';
import { ServiceError } from '../../platform/http/errors.ts';
import type { Queries } from '../../platform/postgres/database.ts';
import { type ObjectKey, uploadKey } from '../../storage/object-key.ts';
import { ObjectStoreError, type StoredBytes } from '../../storage/object-store.ts';
import type { UploadsContext } from '../context.ts';
import { countBytes, findByteLimit, NOTHING_COUNTED } from './byte-limit.ts';
import { decideStoredUpload, type UploadedBytes, type UploadSource } from './stored-upload.ts';
import { assertLength, emptyUpload, otherLength, toClosedError } from './upload-errors.ts';
import {
  type ClaimedPut,
  claimPuts,
  deleteHeldUpload,
  findWriterSeconds,
  type PutClaim,
  renewLease,
  type WriterProtocol,
} from './uploads.sql.ts';

export type ClaimPut = (claim: PutClaim) => Promise<ClaimedPut | undefined>;

type NewOriginal = {
  /** Names the object and holds the lease; each upload needs a new one. */
  readonly uploadId: string;
  readonly protocol: WriterProtocol;
  /** Undefined if it is not known before the bytes are. */
  readonly length: number | undefined;
  /** Whether an upload that was not recorded may have left an object. */
  readonly mayHaveOrphans?: boolean | undefined;
};

export type OriginalBytes = NewOriginal & { readonly bytes: AsyncIterable<Uint8Array> };

/** `copyTo` lets the store copy the bytes to the key. `toJobs`: sent with the pointer to the object. */
type OriginalCopy<T extends UploadedBytes> = NewOriginal & {
  readonly length: number;
  readonly copyTo: (key: ObjectKey) => Promise<T>;
  readonly toJobs: (copied: T) => readonly JobRequest[];
};

/** A hanging database must not delay the error response again. An unreleased lease expires by itself. */
const RELEASE_MS = 500;

/**
 * Returns the asset with its original. Throws if the bytes are refused, or if another upload runs or
 * finished.
 */
export async function storeOriginal(
  ctx: UploadsContext,
  asset: Asset,
  original: OriginalBytes,
): Promise<Asset> {
  const counted = countBytes(original.bytes);
  return storeUnderLease(ctx, asset, {
    original,
    counted,
    write: async (writer) => ({
      stored: await writeObject(ctx, writer, { ...original, bytes: counted.bytes }),
      jobs: [],
    }),
  });
}

/** The same for an object that the store copies. Its bytes are announced, so they count already. */
export const storeCopy = <T extends UploadedBytes>(
  ctx: UploadsContext,
  asset: Asset,
  original: OriginalCopy<T>,
): Promise<Asset> =>
  storeUnderLease(ctx, asset, {
    original,
    counted: NOTHING_COUNTED,
    write: async ({ lease }) => {
      const stored = await original.copyTo(uploadKey(asset.id, lease.upload));
      return { stored, jobs: original.toJobs(stored) };
    },
  });

type WrittenObject = { readonly stored: UploadedBytes; readonly jobs: readonly JobRequest[] };

type LeasedWrite = {
  readonly original: NewOriginal;
  readonly counted: Omit<ReturnType<typeof countBytes>, 'bytes'>;
  readonly write: (writer: Writer) => Promise<WrittenObject>;
};

async function storeUnderLease(
  ctx: UploadsContext,
  asset: Asset,
  { original, counted, write }: LeasedWrite,
): Promise<Asset> {
  const { db } = ctx;
  assertLength(asset, original.length, ctx.settings.maxUploadBytes);
  await ctx.admission.requireDatabaseSpace();
  const { uploadId: id, protocol } = original;
  const source: UploadSource = protocol === 'put' ? 'caller' : 'service';
  const lease: UploadLease = { upload: id, holder: id };
  const renew = () =>
    ctx.usage
      .underQuota(asset.owner_user_id, () => renewLease(db, lease, counted.received()))
      .catch(counted.refuse);
  return whileRenewing({ everyMs: RENEW_REQUEST_EVERY_MS, renew }, async () => {
    try {
      const claimed = await ctx.intake.claimPut(toClaim(asset, original));
      if (!claimed) throw await findRefusal(ctx, asset);
      const written = await write({ asset, lease, mayHaveQuota: claimed.has_byte_limit });
      const mayHaveOrphans = claimed.has_replaced || original.mayHaveOrphans === true;
      const finished = await finishUpload(ctx, {
        asset,
        uploadId: id,
        lease,
        source,
        mayHaveOrphans,
        ...written,
      });
      if (finished) return finished;
      await ctx.store.remove(uploadKey(asset.id, id));
      throw await findRefusal(ctx, asset);
    } catch (error) {
      await waitAtMost(RELEASE_MS, abandonUpload(ctx, asset.id, id));
      throw counted.refusal() ?? error;
    }
  });
}

/** A killed writer holds its lease until it expires, so the client is told when that is. */
async function findRefusal({ db, lifecycle }: UploadsContext, asset: Asset): Promise<ServiceError> {
  const [seen, seconds] = await Promise.all([
    lifecycle.findAssetById(asset.id),
    findWriterSeconds(db, asset),
  ]);
  return toClosedError(seen, seconds);
}

const toClaim = ({ id, attempt }: Asset, { uploadId, protocol, length }: NewOriginal): PutClaim => ({
  id,
  attempt,
  upload: uploadId,
  protocol,
  sizeBytes: length ?? null,
});

/** Concurrent PUTs share the statements that open them. */
export const createPutClaims = (db: Queries): ClaimPut =>
  createBatcher((claims: readonly PutClaim[]) => claimPuts(db, claims), STATEMENT_LIMITS);

/** A request that writes an upload of an asset. */
type Writer = {
  readonly asset: Asset;
  readonly lease: UploadLease;
  /** False if the owner is known to have no quota. */
  readonly mayHaveQuota: boolean;
};

/**
 * Ends a PUT, an import or a clip that did not finish, which then cannot finish any more. Removes the object
 * only if the upload still held its lease: a finished one keeps its object.
 */
export async function abandonUpload(
  { db, store }: UploadsContext,
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
  /** Sent in the same transaction. */
  readonly jobs?: readonly JobRequest[];
};

/**
 * Points the asset to the stored object, and to an earlier asset with the same bytes. Undefined if the upload
 * is closed or its lease is lost.
 */
export async function finishUpload(
  ctx: UploadsContext,
  { asset, ...upload }: FinishedUpload,
): Promise<Asset | undefined> {
  const { lifecycle, usage } = ctx;
  const { uploadTtlSeconds } = ctx.settings;
  const { sha256 } = upload.stored;
  const duplicateOf = sha256 === null ? null : await lifecycle.findDuplicate(asset, sha256);
  const mayHaveOrphans = upload.mayHaveOrphans || (upload.lease !== undefined && hasPresignedUrl(ctx, asset));
  const finish = { attempt: asset.attempt, ...upload, mayHaveOrphans, duplicateOf, uploadTtlSeconds };
  const updated = await usage.underQuota(asset.owner_user_id, () =>
    lifecycle.update(asset, (seen, now) => decideStoredUpload(seen, { ...finish, now })),
  );
  return updated?.decision && updated.asset;
}

/** The client may still send bytes there. */
const hasPresignedUrl = (
  { store, settings: { multipartUploadBytes } }: UploadsContext,
  { announced_size_bytes: announced }: Asset,
): boolean => store.direct !== undefined && announced !== null && announced <= multipartUploadBytes;

async function writeObject(
  ctx: UploadsContext,
  { asset, lease, mayHaveQuota }: Writer,
  original: OriginalBytes,
): Promise<StoredBytes> {
  const limit = await findByteLimit(ctx, asset, { length: original.length, mayHaveQuota });
  const key = uploadKey(asset.id, lease.upload);
  const stored = await ctx.store.put(key, original.bytes, limit.maxBytes).catch((error: unknown) => {
    throw error instanceof ObjectStoreError ? toUploadError(error, limit.tooLong) : error;
  });
  const { announced_size_bytes: announced } = asset;
  if (stored.sizeBytes > 0 && (announced === null || stored.sizeBytes === announced)) return stored;
  await ctx.store.remove(key);
  throw stored.sizeBytes === 0 ? emptyUpload() : otherLength(announced ?? 0);
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
