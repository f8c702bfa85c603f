// Completes uploads in parts: the store joins the parts, then the asset points to the object (contract B4).
import type { Asset } from '../../assets/asset.ts';
import { RENEW_EVERY_MS, whileRenewing } from '../../platform/concurrency/lease.ts';
import { diskFull } from '../../platform/disk/free-space.ts';
import { badRequest, ServiceError } from '../../platform/http/errors.ts';
import { ObjectStoreError, type StoredPart } from '../../storage/object-store.ts';
import { takesBytes } from '../byte-rules.ts';
import type { UploadsContext } from '../context.ts';
import { findByteLimit } from '../original/byte-limit.ts';
import { finishUpload } from '../original/store-original.ts';
import { toClosedError } from '../original/upload-errors.ts';
import { countOtherUploads } from '../tus/resumable-uploads.sql.ts';
import { assertAllParts } from './multipart-plan.ts';
import {
  directOf,
  expiryAfter,
  type MultipartRow,
  noSuchUpload,
  planOf,
  storeUploadOf,
} from './multipart-row.ts';
import { claimCompletion, findMultipart, releaseCompletion } from './multipart-uploads.sql.ts';

/** Parts as the client knows them; undefined: all that the store has. */
type Completion = {
  readonly id: string;
  readonly parts?: readonly { readonly partNumber: number; readonly etag: string }[] | undefined;
};

/** Makes the parts the original of the asset. Can be repeated, also after a crash or a lost response. */
export async function completeMultipart(
  ctx: UploadsContext,
  asset: Asset,
  { id, parts }: Completion,
): Promise<Asset> {
  const row = await findMultipart(ctx.db, asset.id, id);
  if (!row) throw noSuchUpload();
  if (row.finished_at && asset.original_upload === id) return asset;
  if (row.finished_at || !takesBytes(asset, row.attempt)) throw toClosedError(asset);
  const { uploadMaxAgeSeconds: maxAgeSeconds } = ctx.settings;
  const claim = () =>
    claimCompletion(ctx.db, id, {
      now: ctx.clocks.now(),
      expiresAt: expiryAfter(ctx.clocks.now(), ctx.settings.uploadTtlSeconds),
      maxAgeSeconds,
    });
  if (!(await claim())) return findCompleted(ctx, asset, id);
  return whileRenewing({ everyMs: RENEW_EVERY_MS, renew: claim }, async () => {
    try {
      const sizeBytes = await completeInStore(ctx, asset, { row, parts });
      return await finish(ctx, asset, { row, sizeBytes });
    } catch (error) {
      // If the store did not answer it may have the object: the upload stays claimed, and a job finishes it.
      if (error instanceof ServiceError && error.code !== 'UNAVAILABLE') await releaseCompletion(ctx.db, id);
      throw error;
    }
  });
}

/** Returns the size of the object. */
async function completeInStore(
  ctx: UploadsContext,
  asset: Asset,
  { row, parts }: { readonly row: MultipartRow; readonly parts: Completion['parts'] },
): Promise<number> {
  const direct = directOf(ctx.store);
  const upload = storeUploadOf(row);
  const stored = await direct.listParts(upload);
  if (!stored) {
    // An earlier request completed it, or it was aborted.
    const sizeBytes = await ctx.store.size(upload.key);
    if (sizeBytes === undefined) throw noSuchUpload();
    return sizeBytes;
  }
  assertSameParts(stored, parts ?? []);
  const sizeBytes = assertAllParts(planOf(row), stored);
  await findByteLimit(ctx, asset, { length: sizeBytes, received: row.bytes_received });
  await direct.completeMultipart(upload, stored).catch((error: unknown) => {
    throw error instanceof ObjectStoreError ? toCompletionError(error) : error;
  });
  return sizeBytes;
}

function toCompletionError(error: ObjectStoreError): ServiceError {
  if (error.reason === 'lost') return noSuchUpload();
  if (error.reason === 'full') return diskFull('object store', error);
  return badRequest('The parts changed meanwhile. List them, then complete the upload again.', {
    reason: 'part_changed',
  });
}

function assertSameParts(stored: readonly StoredPart[], named: NonNullable<Completion['parts']>): void {
  const etags = new Map(stored.map(({ partNumber, etag }) => [partNumber, etag]));
  const changed = named.find(({ partNumber, etag }) => unquoted(etags.get(partNumber)) !== unquoted(etag));
  if (changed)
    throw badRequest(
      `The ETag of part ${changed.partNumber} is not that of the stored part. List the parts.`,
      {
        field: 'ETag',
        reason: 'part_changed',
        PartNumber: changed.partNumber,
      },
    );
}

/** Clients may drop the quotes of an ETag. */
const unquoted = (etag: string | undefined): string | undefined => etag?.replace(/^"|"$/g, '');

/** Points the asset to the object. */
async function finish(
  ctx: UploadsContext,
  asset: Asset,
  { row: { id }, sizeBytes }: { readonly row: MultipartRow; readonly sizeBytes: number },
): Promise<Asset> {
  const others = await countOtherUploads(ctx.db, { id, assetId: asset.id });
  const finished = await finishUpload(ctx, {
    asset,
    uploadId: id,
    lease: { upload: id, holder: id },
    stored: { sizeBytes, sha256: null },
    source: 'caller',
    mayHaveOrphans: others > 0,
  });
  return finished ?? findCompleted(ctx, asset, id);
}

/** The asset, if another request completed this upload meanwhile. */
async function findCompleted(ctx: UploadsContext, asset: Asset, id: string): Promise<Asset> {
  const seen = await ctx.lifecycle.findAssetById(asset.id);
  if (seen?.uploaded_at && seen.original_upload === id) return seen;
  if (seen && takesBytes(seen, seen.attempt)) throw noSuchUpload();
  throw toClosedError(seen);
}
