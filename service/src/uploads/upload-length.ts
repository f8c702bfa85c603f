// Validates the length of an upload (contract B4).
import type { Asset } from '../assets/asset.ts';
import { badRequest, payloadTooLarge } from '../platform/errors.ts';

export function assertLength(asset: Asset, length: number | undefined, maxBytes: number): void {
  if (length === undefined) return;
  if (length === 0) throw emptyUpload();
  if (length > maxBytes) throw tooLarge(maxBytes);
  if (asset.announced_size_bytes !== null && length !== asset.announced_size_bytes)
    throw otherLength(asset.announced_size_bytes);
}

export const emptyUpload = () =>
  badRequest('The upload is empty: its body has no bytes. Send the whole file in the body.', {
    reason: 'empty_upload',
  });
export const tooLarge = (maxBytes: number) =>
  payloadTooLarge(`The upload is larger than the maximum of ${maxBytes} bytes`, { max_bytes: maxBytes });
export const otherLength = (size: number) =>
  badRequest(`The upload has another length than the announced size_bytes of ${size}`, {
    field: 'size_bytes',
    expected: size,
  });
