// Errors of the API: error codes, their HTTP status and their constructors (contract A3, B7).

/** error_code → HTTP status. */
export const STATUS = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof STATUS;

/** Machine-readable details for the caller: field, reason, limit, allowed values. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/** `details.reason` of every 401, and what it means to the caller. */
export const UNAUTHORIZED_REASONS = {
  missing: 'No credential was sent',
  malformed: 'The credential does not have the expected form',
  multiple_credentials: 'More than one credential was sent; send exactly one',
  bad_signature: 'The signature does not match',
  wrong_type: 'The token is signed correctly, but is not an access token',
  missing_claim: 'The access token lacks a usable claim, which `field` names',
  expired: 'The token or the signed URL has expired',
  not_yet_valid: 'The access token is not valid yet',
  invalid: 'The key, the playback token or the signed URL is not valid',
  not_configured: 'Webhooks alone: the secret of this provider is not set',
  invalid_payload: 'Webhooks alone: the body is not JSON',
} as const;
export type UnauthorizedReason = keyof typeof UNAUTHORIZED_REASONS;
type UnauthorizedDetails = ErrorDetails & { readonly reason: UnauthorizedReason };

/** An error for the caller. Message and details are sent unchanged, so they must not contain a stack, SQL, path or secret. */
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
export const unauthorized = (message: string, details: UnauthorizedDetails, challenge?: string) =>
  new ServiceError('UNAUTHORIZED', message, { details, challenge });
export const forbidden = (message: string) => new ServiceError('FORBIDDEN', message);
export const notFound = (message: string, details: ErrorDetails | null = null) =>
  new ServiceError('NOT_FOUND', message, { details });
export const conflict = (message: string, details: ErrorDetails | null = null) =>
  new ServiceError('CONFLICT', message, { details });
export const payloadTooLarge = (message: string, details: ErrorDetails | null = null) =>
  new ServiceError('PAYLOAD_TOO_LARGE', message, { details });
export const unsupportedMediaType = (message: string, details: ErrorDetails | null = null) =>
  new ServiceError('UNSUPPORTED_MEDIA_TYPE', message, { details });
export const unavailable = (message: string, cause?: unknown) =>
  new ServiceError('UNAVAILABLE', message, { cause });
export const isUnavailable = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === 'UNAVAILABLE';
