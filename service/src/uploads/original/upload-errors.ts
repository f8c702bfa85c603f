// The errors of uploads that receive bytes (contract B4).
import type { Asset } from '../../assets/asset.ts';
import { badRequest, conflict, notFound, payloadTooLarge, ServiceError } from '../../platform/http/errors.ts';

export const emptyUpload = (): ServiceError =>
  badRequest('The upload is empty: its body has no bytes. Send the whole file in the body.', {
    reason: 'empty_upload',
  });

export const tooLarge = (maxBytes: number): ServiceError =>
  payloadTooLarge(`The upload is larger than the maximum of ${maxBytes} bytes`, {
    field: 'body',
    limit: maxBytes,
  });

export const moreThanAnnounced = (size: number): ServiceError =>
  payloadTooLarge(`The upload has more than the announced ${size} bytes`, { field: 'body', limit: size });

export const otherLength = (size: number): ServiceError =>
  badRequest(`The upload has another length than the announced size_bytes of ${size}`, {
    field: 'size_bytes',
    expected: size,
  });

export const inProgress = (retryAfterSeconds = 1): ServiceError =>
  new ServiceError('CONFLICT', 'Another request is writing this upload. Try again after Retry-After.', {
    details: { reason: 'upload_in_progress' },
    retryAfterSeconds,
  });

/** Why the asset accepts no bytes from this writer. `retryAfterSeconds`: the rest of the lease. */
export function toClosedError(asset: Asset | undefined, retryAfterSeconds?: number): ServiceError {
  if (!asset || asset.deleted_at) return notFound('No such asset');
  if (asset.uploaded_at)
    return conflict('The bytes of this asset are already stored', { reason: 'already_uploaded' });
  if (asset.stream_status !== 'pending_upload')
    return conflict('The upload is closed', {
      reason: 'wrong_status',
      stream_status: asset.stream_status,
    });
  return inProgress(retryAfterSeconds);
}

/** Checks a length that is known before the bytes are. */
export function assertLength(asset: Asset, length: number | undefined, maxBytes: number): void {
  if (length === undefined) return;
  if (length === 0) throw emptyUpload();
  if (length > maxBytes) throw tooLarge(maxBytes);
  const { announced_size_bytes: announced } = asset;
  if (announced !== null && length !== announced) throw otherLength(announced);
}
