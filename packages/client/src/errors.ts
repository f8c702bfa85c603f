// Errors of the SDK. Decide by `errorCode` and `reason`; messages are for people and may change.
import type { Asset } from './api/assets.ts';
import type { ErrorCode, ErrorReason, FailureCode } from './api/errors.ts';

/** `ErrorCode` of the service, or one of the SDK itself. */
export type MediaryErrorCode =
  | ErrorCode
  | 'CONNECTION_FAILED'
  | 'CORS_REFUSED'
  | 'TIMEOUT'
  | 'INVALID_RESPONSE'
  | 'UPLOAD_FAILED'
  | 'ASSET_FAILED'
  | 'ASSET_DELETED'
  | 'FILE_UNREADABLE'
  | 'INVALID_SIGNATURE';

export type MediaryErrorReason = ErrorReason | FailureCode | (string & {});

type MediaryErrorFields = {
  errorCode: MediaryErrorCode;
  status?: number | undefined;
  details?: Record<string, unknown> | null | undefined;
  requestId?: string | undefined;
  retryAfterS?: number | undefined;
  cause?: unknown;
};

/**
 * Every error that the SDK throws, except that of an aborted `signal`, which is the reason of the signal,
 * and a `TypeError` for invalid options.
 */
export class MediaryError extends Error {
  override readonly name: string = 'MediaryError';
  /** `error.error_code` of the response, or a code of the SDK. */
  readonly errorCode: MediaryErrorCode;
  /** HTTP status; undefined if there was no response. */
  readonly status: number | undefined;
  /** `error.details`: names the invalid `field`, the `limit`, or what is `allowed`. */
  readonly details: Record<string, unknown> | null;
  /** `details.reason`: the cause, where an error code has several. */
  readonly reason: MediaryErrorReason | undefined;
  /** Identifies the request in the log of the service. */
  readonly requestId: string | undefined;
  /** Seconds after which the service invites another request. */
  readonly retryAfterS: number | undefined;

  constructor(
    message: string,
    { errorCode, status, details, requestId, retryAfterS, cause }: MediaryErrorFields,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.errorCode = errorCode;
    this.status = status;
    this.details = details ?? null;
    this.reason = typeof details?.['reason'] === 'string' ? details['reason'] : undefined;
    this.requestId = requestId;
    this.retryAfterS = retryAfterS;
  }
}

/** No response: the service cannot be reached, or the connection broke. */
export class ConnectionError extends MediaryError {
  override readonly name = 'ConnectionError';
  constructor(message: string, cause: unknown) {
    super(message, { errorCode: 'CONNECTION_FAILED', cause });
  }
}

/** The cause of the TypeError of `fetch` says what happened. */
export function toConnectionError(message: string, error: unknown): ConnectionError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return new ConnectionError(`${message}: ${cause instanceof Error ? cause.message : cause}`, error);
}

/** No response within `timeoutMs`. */
export class TimeoutError extends MediaryError {
  override readonly name = 'TimeoutError';
  constructor(message: string) {
    super(message, { errorCode: 'TIMEOUT' });
  }
}

/**
 * `media.upload` failed. `errorCode` and the other members are those of `cause`; an asset with the id
 * `assetId` exists, and the same call resumes its upload where that is possible.
 */
export class UploadError extends MediaryError {
  override readonly name = 'UploadError';
  readonly assetId: string;
  constructor(assetId: string, cause: unknown) {
    const known = cause instanceof MediaryError ? cause : undefined;
    const message = cause instanceof Error ? cause.message : String(cause);
    super(message, { ...(known ?? { errorCode: 'UPLOAD_FAILED' }), cause });
    this.assetId = assetId;
  }
}

/** `media.waitUntilReady`: the asset is `failed`. `reason` is `failure.code`. */
export class AssetFailedError extends MediaryError {
  override readonly name = 'AssetFailedError';
  readonly asset: Asset;
  constructor(asset: Asset) {
    const { failure } = asset;
    const details = { reason: failure?.code, retryable: failure?.retryable };
    super(failure?.message ?? 'The asset has failed.', { errorCode: 'ASSET_FAILED', details });
    this.asset = asset;
  }
}

/**
 * Whether `error` is one of the SDK, with this code or reason if one is given.
 *
 * @example if (isMediaryError(error, 'NOT_FOUND')) return null;
 */
export const isMediaryError = (
  error: unknown,
  codeOrReason?: MediaryErrorCode | ErrorReason,
): error is MediaryError =>
  error instanceof MediaryError &&
  (codeOrReason === undefined || error.errorCode === codeOrReason || error.reason === codeOrReason);
