// Quota fields and the error for a request that exceeds a quota.
import { badRequest, ServiceError } from '../platform/http/errors.ts';

export const QUOTA_FIELDS = ['assets', 'bytes', 'pending'] as const;
export type QuotaField = (typeof QUOTA_FIELDS)[number];

/** `used` excludes the request; `requested` is null when its size is unknown. */
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
    `The owner's quota of ${limit} ${NOUNS[field]} is exceeded: ${used} used${more}. ` +
      'Delete assets permanently or ask the operator for a higher limit.',
    { reason: 'quota_exceeded', field, limit, used, requested },
  );
}

export const isQuotaExceeded = (error: unknown): boolean =>
  error instanceof ServiceError && error.details?.reason === 'quota_exceeded';

/** Limit and usage of an owner in bytes. */
export type ByteQuota = { readonly limit: number; readonly used: number };

/** The maximum size of an upload of unknown size. */
export const bytesLeft = ({ limit, used }: ByteQuota): number => Math.max(0, limit - used);
