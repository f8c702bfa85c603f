// The row of an upload in parts, and what follows from it.
import { notFound, type ServiceError } from '../../platform/http/errors.ts';
import { uploadKey } from '../../storage/object-key.ts';
import type { DirectUploads, MultipartUpload, ObjectStore } from '../../storage/object-store.ts';
import type { PartPlan } from './multipart-plan.ts';

/** `target` is null for other protocols only. */
export type MultipartRow = {
  readonly id: string;
  readonly asset_id: string;
  readonly attempt: number;
  readonly target: { readonly upload_id: string; readonly part_bytes: number; readonly max_bytes: number };
  readonly size_bytes: number | null;
  /** What the signed parts may hold at most: the bytes go straight to the store. */
  readonly bytes_received: number;
  readonly expires_at: Date;
  readonly finished_at: Date | null;
};

export const storeUploadOf = ({ id, asset_id: assetId, target }: MultipartRow): MultipartUpload => ({
  key: uploadKey(assetId, id),
  uploadId: target.upload_id,
});

export const planOf = ({ size_bytes: sizeBytes, target }: MultipartRow): PartPlan => ({
  sizeBytes,
  maxBytes: target.max_bytes,
  partBytes: target.part_bytes,
});

/** The bytes up to the end of a part. */
export const bytesThrough = ({ size_bytes: size, target }: MultipartRow, partNumber: number): number =>
  Math.min(partNumber * target.part_bytes, size ?? target.max_bytes);

export const expiryAfter = (now: Date, uploadTtlSeconds: number): Date =>
  new Date(now.getTime() + uploadTtlSeconds * 1000);

export const directOf = ({ direct }: Pick<ObjectStore, 'direct'>): DirectUploads => {
  if (!direct) throw notFound('This service takes no uploads in parts');
  return direct;
};

export const noSuchUpload = (): ServiceError => notFound('No such upload. Create another one.');
