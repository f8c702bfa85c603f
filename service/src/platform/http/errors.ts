// Errors of the API: error codes, their HTTP status and their constructors (contract A3, B7).

import type { ErrorCode, ErrorReason, UnauthorizedReason } from '@mediary/contract/errors';

/** Machine-readable details for the caller: field, reason, limit, allowed values. */
export type ErrorDetails = Readonly<Record<string, unknown>> & { readonly reason?: ErrorReason };
/** An invalid member, parameter or header of a request; `details.errors` lists them all. */
export type InvalidMember = {
  readonly field: string;
  readonly reason: ErrorReason;
  readonly limit?: unknown;
  readonly allowed?: readonly unknown[];
  readonly message: string;
};
type UnauthorizedDetails = ErrorDetails & { readonly reason: UnauthorizedReason };

/**
 * An error for the caller. Message and details are sent unchanged, so they must not contain a stack, SQL, a
 * path or a secret.
 */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails | null;
  /** Value of `Retry-After`; undefined: the default of the error code. */
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** The `WWW-Authenticate` header of a 401. */
  readonly challenge: string | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    {
      details = null,
      cause,
      retryAfterSeconds,
      headers = {},
      challenge,
    }: {
      details?: ErrorDetails | null;
      cause?: unknown;
      retryAfterSeconds?: number | undefined;
      headers?: Readonly<Record<string, string>>;
      challenge?: string | undefined;
    } = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds;
    this.headers = headers;
    this.challenge = challenge;
  }
}

export const badRequest = (message: string, details: ErrorDetails | null = null) =>
  new ServiceError('BAD_REQUEST', message, { details });
const MAX_SENTENCES = 10;

/** BAD_REQUEST that lists invalid members; `details` begins with the members of the first. */
export function invalidMembers(members: readonly InvalidMember[]): ServiceError {
  const [first] = members as readonly [InvalidMember];
  const { message: _, ...details } = first;
  const sentences = members.slice(0, MAX_SENTENCES).map(({ message }) => message.replace(/\.$/, ''));
  const more = members.length > MAX_SENTENCES ? [`and ${members.length - MAX_SENTENCES} more`] : [];
  return badRequest(members.length === 1 ? first.message : [...sentences, ...more].join('; '), {
    ...details,
    errors: members,
  });
}

/** Runs every check and throws the invalid fields of all of them together. */
export function assertEach(checks: readonly (() => void)[]): void {
  const failures = checks.flatMap((check) => findInvalidMember(check));
  if (failures.length > 1) throw invalidMembers(failures.flatMap(toInvalidMembers));
  if (failures[0]) throw failures[0];
}

/** Other errors are thrown at once. */
function findInvalidMember(check: () => void): readonly ServiceError[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'BAD_REQUEST' && error.details?.['field'])
      return [error];
    throw error;
  }
}

/** The invalid members that a BAD_REQUEST names; a field without a reason has an invalid value. */
export function toInvalidMembers({ message, details }: ServiceError): readonly InvalidMember[] {
  if (!details || typeof details['field'] !== 'string') return [];
  if (Array.isArray(details['errors'])) return details['errors'] as readonly InvalidMember[];
  const { field, reason = 'invalid_value', limit, allowed } = details as ErrorDetails & InvalidMember;
  return [{ field, reason, ...(limit !== undefined && { limit }), ...(allowed && { allowed }), message }];
}

export const unauthorized = (message: string, details: UnauthorizedDetails, challenge?: string) =>
  new ServiceError('UNAUTHORIZED', message, { details, challenge });
export const forbidden = (message: string, details: ErrorDetails | null = null) =>
  new ServiceError('FORBIDDEN', message, { details });
export const notFound = (message: string, details: ErrorDetails | null = null) =>
  new ServiceError('NOT_FOUND', message, { details });
export const conflict = (message: string, details: ErrorDetails | null = null) =>
  new ServiceError('CONFLICT', message, { details });
/** `limit`: the allowed bytes, where they are known. */
export const payloadTooLarge = (
  message: string,
  { field, limit }: { readonly field?: string; readonly limit?: number } = {},
) =>
  new ServiceError('PAYLOAD_TOO_LARGE', message, {
    details: {
      ...(field !== undefined && { field }),
      reason: 'size_above_limit',
      ...(limit !== undefined && { limit }),
    },
  });
export const unsupportedMediaType = (message: string, details: ErrorDetails | null = null) =>
  new ServiceError('UNSUPPORTED_MEDIA_TYPE', message, { details });
export const unavailable = (message: string, cause?: unknown) =>
  new ServiceError('UNAVAILABLE', message, { cause });
/** All slots are taken: `details.reason` is `busy`. */
export const busy = (message = 'The service is busy processing other files. Retry later.'): ServiceError =>
  new ServiceError('UNAVAILABLE', message, { details: { reason: 'busy' } });
export const isUnavailable = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === 'UNAVAILABLE';

/** A failure's code as `details.reason`; encoders may report codes that the contract does not list. */
export const toReason = (code: string): ErrorReason => code as ErrorReason;
