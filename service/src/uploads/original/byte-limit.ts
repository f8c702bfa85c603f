// How many bytes an upload may have, by its announcement and the owner's quota (contract B4).
import type { Asset } from '../../assets/asset.ts';
import type { ServiceError } from '../../platform/http/errors.ts';
import { bytesLeft, isQuotaExceeded, quotaExceeded } from '../../usage/quota.ts';
import type { UploadsContext } from '../context.ts';
import { otherLength, tooLarge } from './upload-errors.ts';

/** `tooLong` is the error of more bytes. */
type ByteLimit = { readonly maxBytes: number; readonly tooLong: () => ServiceError };

type KnownBytes = {
  readonly length: number | undefined;
  /** Bytes of this upload that the usage counts already. */
  readonly received?: number;
  /** False if the owner is known to have no quota; default: true. */
  readonly mayHaveQuota?: boolean;
};

/** How many bytes the asset takes. Throws if `length` is over the owner's quota. */
export async function findByteLimit(
  { usage, settings: { maxUploadBytes } }: UploadsContext,
  { announced_size_bytes: announced, owner_user_id: owner }: Asset,
  { length, received = 0, mayHaveQuota = true }: KnownBytes,
): Promise<ByteLimit> {
  // createUpload reserved the announced bytes already.
  if (announced !== null) return { maxBytes: announced, tooLong: () => otherLength(announced) };
  const quota = mayHaveQuota ? await usage.findByteQuota(owner) : undefined;
  const quotaBytes = quota ? received + bytesLeft(quota) : Number.POSITIVE_INFINITY;
  const requested = length === undefined ? null : length - received;
  const overQuota = () => quotaExceeded({ field: 'bytes', limit: 0, used: 0, ...quota, requested });
  if (length !== undefined && length > quotaBytes) throw overQuota();
  return quotaBytes < maxUploadBytes
    ? { maxBytes: quotaBytes, tooLong: overQuota }
    : { maxBytes: maxUploadBytes, tooLong: () => tooLarge(maxUploadBytes) };
}

/**
 * Counts the bytes as they arrive. Each renewal of the lease adds them to the owner's usage; after its
 * refusal, which `refuse` takes, they end.
 */
export function countBytes(bytes: AsyncIterable<Uint8Array>) {
  let received = 0;
  let refusal: unknown;
  async function* count() {
    for await (const chunk of bytes) {
      if (refusal !== undefined) throw refusal;
      received += chunk.byteLength;
      yield chunk;
    }
  }
  return {
    bytes: count(),
    received: () => received,
    refusal: () => refusal,
    refuse: (error: unknown) => {
      if (isQuotaExceeded(error)) refusal = error;
      else throw error;
    },
  };
}

/** Of bytes that do not pass through the service. */
export const NOTHING_COUNTED: Omit<ReturnType<typeof countBytes>, 'bytes'> = {
  received: () => 0,
  refusal: () => undefined,
  refuse: (error) => {
    throw error;
  },
};
