// Uploads in parts that go straight to an S3 store: creates, signs, lists and aborts them (contract B4).
import { randomUUID } from 'node:crypto';
import type { Asset } from '../../assets/asset.ts';
import { conflict, notFound } from '../../platform/http/errors.ts';
import { uploadKey } from '../../storage/object-key.ts';
import type { StoredPart } from '../../storage/object-store.ts';
import { takesBytes } from '../byte-rules.ts';
import type { UploadsContext } from '../context.ts';
import { findByteLimit } from '../original/byte-limit.ts';
import { insertOpenUpload } from '../original/open-uploads.ts';
import { assertLength, inProgress, toClosedError } from '../original/upload-errors.ts';
import { deleteHeldUpload } from '../original/uploads.sql.ts';
import { toClientHeaders } from '../upload-targets.ts';
import { partBytesFor, partLength } from './multipart-plan.ts';
import {
  bytesThrough,
  directOf,
  expiryAfter,
  type MultipartRow,
  noSuchUpload,
  planOf,
  storeUploadOf,
} from './multipart-row.ts';
import {
  claimRemoval,
  findMultipart,
  findOlderMultiparts,
  insertMultipart,
  recordSignedBytes,
} from './multipart-uploads.sql.ts';

/** Clients that lose the id of an upload create another one. */
const MAX_OPEN = 2;
/** A client that did not start a part within this time asks for its URL again. */
const PART_URL_SECONDS = 3600;

/** Creates an upload in the store, then its row. `sizeBytes`: the size of a file, if it was not announced. */
export async function createMultipart(
  ctx: UploadsContext,
  asset: Asset,
  sizeBytes: number | undefined,
): Promise<MultipartRow> {
  const direct = directOf(ctx.store);
  assertLength(asset, sizeBytes, ctx.settings.maxUploadBytes);
  const size = asset.announced_size_bytes ?? sizeBytes ?? null;
  const { maxBytes, tooLong } = await findByteLimit(ctx, asset, { length: size ?? undefined });
  if (maxBytes === 0) throw tooLong();
  await ctx.admission.requireDatabaseSpace();
  for (const { id } of await findOlderMultiparts(ctx.db, asset.id, MAX_OPEN - 1))
    await removeMultipart(ctx, asset.id, id);
  const id = randomUUID();
  const upload = await direct.createMultipart(uploadKey(asset.id, id), asset.mime_type);
  const target = {
    upload_id: upload.uploadId,
    part_bytes: partBytesFor(size ?? ctx.settings.maxUploadBytes),
    max_bytes: size ?? maxBytes,
  };
  try {
    const row = {
      id,
      target,
      sizeBytes: size,
      expiresAt: expiryAfter(ctx.clocks.now(), ctx.settings.uploadTtlSeconds),
      maxOpen: MAX_OPEN,
    };
    return await insertOpenUpload(ctx, asset, (tx) => insertMultipart(tx, asset, row));
  } catch (error) {
    await direct.abortMultipart(upload);
    throw error;
  }
}

/** An upload that can still receive parts. */
async function getOpenUpload(ctx: UploadsContext, asset: Asset, id: string): Promise<MultipartRow> {
  const row = await findMultipart(ctx.db, asset.id, id);
  if (!row) throw noSuchUpload();
  if (row.finished_at || !takesBytes(asset, row.attempt)) throw toClosedError(asset);
  if (row.expires_at <= ctx.clocks.now()) throw notFound('The upload has expired. Create another one.');
  return row;
}

type PartRequest = {
  readonly partNumber: number;
  /** Needed for the last part of a file of unknown size. */
  readonly sizeBytes?: number | undefined;
  /** Lower-case hex. */
  readonly sha256?: string | undefined;
};

export type SignedPart = {
  readonly partNumber: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly expiresAt: Date;
};

/** Presigned requests, each for the exact length of its part. */
export async function signParts(
  ctx: UploadsContext,
  asset: Asset,
  { id, parts }: { readonly id: string; readonly parts: readonly PartRequest[] },
): Promise<SignedPart[]> {
  const direct = directOf(ctx.store);
  const row = await getOpenUpload(ctx, asset, id);
  const plan = planOf(row);
  await assertWithinQuota(ctx, asset, { row, parts });
  const lengths = parts.map(({ partNumber, sizeBytes }) => partLength(plan, partNumber, sizeBytes));
  const bytes = Math.max(...parts.map(({ partNumber }) => bytesThrough(row, partNumber)));
  await recordSigned(ctx, { asset, row, bytes });
  return Promise.all(
    parts.map(async ({ partNumber, sha256 }, index) => {
      const contentLength = lengths[index] ?? 0;
      const part = { partNumber, contentLength, sha256, expiresInSeconds: PART_URL_SECONDS };
      const signed = await direct.presignPart({ ...storeUploadOf(row), ...part });
      return { partNumber, url: signed.url, headers: toClientHeaders(signed), expiresAt: signed.expiresAt };
    }),
  );
}

type RequestedParts = { readonly row: MultipartRow; readonly parts: readonly PartRequest[] };

/** A quota that limited the upload when it was created has an error of its own. */
async function assertWithinQuota(
  ctx: UploadsContext,
  asset: Asset,
  { row, parts }: RequestedParts,
): Promise<void> {
  const { max_bytes: maxBytes, part_bytes: partBytes } = row.target;
  const ends = parts.map(({ partNumber, sizeBytes = 1 }) => (partNumber - 1) * partBytes + sizeBytes);
  const length = Math.max(...ends);
  if (row.size_bytes !== null || length <= maxBytes || maxBytes >= ctx.settings.maxUploadBytes) return;
  await findByteLimit(ctx, asset, { length, received: row.bytes_received });
}

type SignedParts = { readonly asset: Asset; readonly row: MultipartRow; readonly bytes: number };

/** Parts that were signed before extend the expiry only in the second half of the lifetime. */
async function recordSigned(ctx: UploadsContext, { asset, row, bytes }: SignedParts): Promise<void> {
  const { uploadTtlSeconds, uploadMaxAgeSeconds: maxAgeSeconds } = ctx.settings;
  const isExpiring = row.expires_at.getTime() - ctx.clocks.now().getTime() < uploadTtlSeconds * 500;
  if (bytes <= row.bytes_received && !isExpiring) return;
  const signed = {
    id: row.id,
    bytes,
    expiresAt: expiryAfter(ctx.clocks.now(), ctx.settings.uploadTtlSeconds),
    maxAgeSeconds,
  };
  await ctx.usage.underQuota(asset.owner_user_id, () => recordSignedBytes(ctx.db, signed));
}

/** The parts that the store has. */
export async function listParts(
  ctx: UploadsContext,
  asset: Asset,
  id: string,
): Promise<readonly StoredPart[]> {
  const parts = await directOf(ctx.store).listParts(storeUploadOf(await getOpenUpload(ctx, asset, id)));
  if (!parts) throw noSuchUpload();
  return parts;
}

/** Aborts an upload on request. */
export async function abortMultipart(ctx: UploadsContext, asset: Asset, id: string): Promise<void> {
  const row = await findMultipart(ctx.db, asset.id, id);
  if (!row) throw noSuchUpload();
  if (row.finished_at)
    throw conflict('The bytes of this asset are already stored', { reason: 'already_uploaded' });
  if (!(await removeMultipart(ctx, asset.id, id))) throw inProgress();
}

/** Removes an upload that did not finish, with its bytes. False if a completion runs. */
export async function removeMultipart(
  { db, store }: UploadsContext,
  assetId: string,
  id: string,
): Promise<boolean> {
  const lease = { upload: id, holder: randomUUID() };
  const row = await claimRemoval(db, lease);
  if (!row) return false;
  await store.direct?.abortMultipart(storeUploadOf(row));
  // A completion that ended between the store and the database left an object.
  await store.remove(uploadKey(assetId, id));
  await deleteHeldUpload(db, lease);
  return true;
}
