// What a quota limits, and the refusal of a request that would exceed one.
import { badRequest, type ServiceError } from '../platform/errors.ts';

export type QuotaField = 'assets' | 'bytes' | 'pending';

/** `used` is without the request; `requested` is null where its size is not known in advance. */
export type QuotaExcess = {
  readonly field: QuotaField;
  readonly limit: number;
  readonly used: number;
  readonly requested: number | null;
};

const NOUNS: Readonly<Record<QuotaField, string>> = {
  assets: 'assets',
  bytes: 'bytes',
  pending: 'pending uploads',
};

export function quotaExceeded({ field, limit, used, requested }: QuotaExcess): ServiceError {
  const more = requested === null ? '' : `, ${requested} requested`;
  return badRequest(
    `The owner's quota of ${limit} ${NOUNS[field]} is exceeded: ${used} used${more}. Delete assets for good or ask the operator for a higher limit`,
    { reason: 'quota_exceeded', field, limit, used, requested },
  );
}

/** The bytes that an owner may use and does. */
export type ByteQuota = { readonly limit: number; readonly used: number };

/** What an upload of unknown size may bring. */
export const bytesLeft = ({ limit, used }: ByteQuota): number => Math.max(0, limit - used);
