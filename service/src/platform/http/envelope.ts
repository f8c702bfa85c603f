// The response envelope, and the conversion of errors to status code and message (contract A2, A3, B7).
import { STATUS_CODES } from 'node:http';
import { type ErrorCode, statusOf } from '@mediary/contract/errors';
import { type ErrorDetails, payloadTooLarge, ServiceError, toInvalidMembers } from './errors.ts';

type Success = {
  readonly success: true;
  readonly message: string;
  readonly code: 200;
  readonly data: unknown;
  readonly request_id: string;
  readonly timestamp: string;
};
type Failure = {
  readonly success: false;
  readonly message: string;
  readonly code: number;
  readonly error: { readonly error_code: ErrorCode; readonly details: ErrorDetails | null };
  readonly request_id: string;
  readonly timestamp: string;
};

export const success = (requestId: string, message: string, data: unknown): Success => ({
  success: true,
  message,
  code: 200,
  data,
  request_id: requestId,
  timestamp: new Date().toISOString(),
});

export function failure(requestId: string, error: ServiceError): Failure {
  return {
    success: false,
    message: error.message,
    code: statusOf(error.code),
    error: { error_code: error.code, details: toDetails(error) },
    request_id: requestId,
    timestamp: new Date().toISOString(),
  };
}

/** Of an invalid request, `details` has a reason and lists all invalid members. */
function toDetails(error: ServiceError): ErrorDetails | null {
  const errors = error.code === 'BAD_REQUEST' ? toInvalidMembers(error) : [];
  return errors[0] ? { reason: errors[0].reason, ...error.details, errors } : error.details;
}

/** Default values of `Retry-After`, in seconds. */
export const RETRY_AFTER: Partial<Record<ErrorCode, string>> = { UNAVAILABLE: '2', RATE_LIMITED: '10' };

/** Converts any thrown value to an error for the caller; unknown errors become INTERNAL_ERROR. */
export function toServiceError(error: unknown, maxBodyBytes?: number): ServiceError {
  if (error instanceof ServiceError) return error;
  const status = httpStatusOf(error);
  if (status === 413) return bodyTooLarge(maxBodyBytes);
  if (status === 404) return new ServiceError('NOT_FOUND', 'Not found');
  if (status >= 400 && status < 500)
    return new ServiceError('BAD_REQUEST', MESSAGES[codeOf(error)] ?? 'The request is malformed', {
      cause: error,
    });
  if (isSystemError(error))
    return new ServiceError('UNAVAILABLE', 'The service is temporarily unavailable. Retry later.', {
      cause: error,
    });
  return new ServiceError(
    'INTERNAL_ERROR',
    'An unexpected error occurred. request_id identifies it in the log.',
    {
      cause: error,
    },
  );
}

const bodyTooLarge = (limit?: number): ServiceError =>
  payloadTooLarge(
    limit === undefined
      ? 'The body is too large'
      : `The body is too large. At most ${limit} bytes are allowed.`,
    { field: 'body', ...(limit !== undefined && { limit }) },
  );

/** Messages for the errors of the HTTP framework. */
const MESSAGES: Readonly<Record<string, string>> = {
  FST_ERR_BAD_URL: 'The path cannot be decoded',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'Content-Type must be application/json',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The length of the body differs from Content-Length',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'The body is empty',
};

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '');
const httpStatusOf = (error: unknown) =>
  error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
    ? error.statusCode
    : 500;
/** A failed disk or network operation. */
const isSystemError = (error: unknown) => error instanceof Error && 'syscall' in error;

/** Formats a complete HTTP response, for sockets whose request could not be parsed. */
export function formatRawResponse(requestId: string, error: ServiceError): string {
  const status = statusOf(error.code);
  const body = JSON.stringify(failure(requestId, error));
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'X-Content-Type-Options: nosniff',
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
