// Every error that the service answers with: one code, one status, one message (contract A3, B7).

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

/** What the caller may know beyond the message: the field, the limit, the reason. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/** A refusal with words for the caller. Its message and details leave the service as they are: no stack, SQL, path or secret. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails | null;
  /** When a caller may try again; undefined: as usual for its code. */
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    {
      details = null,
      cause,
      retryAfterSeconds,
      headers = {},
    }: {
      details?: ErrorDetails | null;
      cause?: unknown;
      retryAfterSeconds?: number | undefined;
      headers?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds;
    this.headers = headers;
  }
}

export const badRequest = (message: string, details: ErrorDetails | null = null) =>
  new ServiceError('BAD_REQUEST', message, { details });
export const unauthorized = (message: string) => new ServiceError('UNAUTHORIZED', message);
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
