// Classifies errors of S3 requests: missing object, refused object, or store not available (503).
import { isUnavailable, unavailable } from '../../platform/http/errors.ts';
import { ObjectStoreError } from '../object-store.ts';

/**
 * Errors that a repeated request can end without a change of the request. Access and configuration errors are
 * among them: an operator ends them.
 */
const UNAVAILABLE_NAMES = [
  'AbortError',
  'AuthorizationHeaderMalformed',
  'BadDigest',
  'ConditionalRequestConflict',
  'CredentialsProviderError',
  'IncompleteBody',
  'NoSuchBucket',
  'NotFound',
  'OperationAborted',
  'PermanentRedirect',
  'RequestTimeout',
  'SlowDown',
  'TimeoutError',
  'XAmzContentSHA256Mismatch',
];
const FULL_NAMES = [
  'QuotaExceeded',
  'XMinioStorageFull',
  'XMinioAdminBucketQuotaExceeded',
  'InsufficientStorage',
];
/** Redirects, wrong credentials, missing rights, timeouts and rate limits. */
const UNAVAILABLE_STATUS = new Set([301, 307, 401, 403, 408, 429]);

type Failure = Error & { readonly $metadata?: { readonly httpStatusCode?: number } };

export const statusOf = (error: Failure): number | undefined => error.$metadata?.httpStatusCode;

export const hasName = (error: unknown, ...names: string[]): boolean =>
  error instanceof Error && names.includes(error.name);

/** HEAD has no body that could name the error; of a bucket, `NotFound` is the bucket itself. */
export const isMissing = (error: unknown): boolean => hasName(error, 'NoSuchKey', 'NotFound');

/** Rethrows errors of the store as UNAVAILABLE or ObjectStoreError, and any other error unchanged. */
export function throwStoreError(error: unknown): never {
  if (!(error instanceof Error) || error instanceof ObjectStoreError || isUnavailable(error)) throw error;
  if (hasName(error, ...FULL_NAMES) || statusOf(error) === 507)
    throw new ObjectStoreError('full', { cause: error });
  if (isStoreUnavailable(error)) throw unavailable('The object store is not available', error);
  throw error;
}

function isStoreUnavailable(error: Failure): boolean {
  const status = statusOf(error);
  if (hasName(error, ...UNAVAILABLE_NAMES)) return true;
  if (status !== undefined) return status >= 500 || UNAVAILABLE_STATUS.has(status);
  return isNetworkError(error);
}

/**
 * Errors of sockets and of the DNS have a system call or a code; the SDK marks others of the connection as
 * retryable.
 */
const isNetworkError = (error: Error): boolean =>
  'syscall' in error || 'code' in error || '$retryable' in error;

/** What the store answered, in words for an operator. Contains neither credentials nor URLs. */
export function describeStoreError(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  const status = statusOf(cause);
  const code = 'code' in cause ? String(cause.code) : undefined;
  if (status !== undefined) return `${HINTS[cause.name] ?? cause.message} (${cause.name}, status ${status})`;
  const hint = HINTS[code ?? cause.name];
  return hint === undefined ? `${cause.name}: ${cause.message}` : `${hint} (${code ?? cause.name})`;
}

const HINTS: Readonly<Record<string, string>> = {
  NoSuchBucket: 'the bucket does not exist',
  NotFound: 'the bucket does not exist',
  PermanentRedirect: 'the bucket is in another region',
  AuthorizationHeaderMalformed: 'the bucket is in another region',
  InvalidAccessKeyId: 'the access key does not exist',
  SignatureDoesNotMatch: 'the secret key is wrong',
  AccessDenied: 'the credentials do not have this right',
  Forbidden: 'the credentials do not have this right',
  RequestTimeTooSkewed: 'the clocks of this machine and of the store differ too much',
  CredentialsProviderError: 'no credentials are set',
  ENOTFOUND: 'the host name of the endpoint does not exist',
  EAI_AGAIN: 'the host name of the endpoint cannot be resolved',
  ECONNREFUSED: 'nothing listens at the endpoint',
  ECONNRESET: 'the endpoint closes connections',
  AbortError: 'the store does not respond in time',
  TimeoutError: 'the store does not respond in time',
};
