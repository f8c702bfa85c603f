// Error codes and the reasons behind them, as data: documentation, SDK and service read the same table.
import { ARCHIVE_REASONS } from './archive-reasons.ts';
import { ASSET_REASONS } from './asset-reasons.ts';
import { FAILURE_CODES, type FailureCode } from './failures.ts';
import { REQUEST_REASONS } from './request-reasons.ts';
import { UPLOAD_REASONS } from './upload-reasons.ts';

/** `error.error_code` → HTTP status and meaning. */
export const ERROR_CODES = {
  BAD_REQUEST: { status: 400, description: 'The request is missing something or holds an invalid value.' },
  UNAUTHORIZED: { status: 401, description: 'Credentials are missing, malformed, expired or wrong.' },
  FORBIDDEN: {
    status: 403,
    description: 'The asset belongs to another user, or the operation needs a service key that allows it.',
  },
  NOT_FOUND: { status: 404, description: 'No such asset or route.' },
  CONFLICT: { status: 409, description: 'The request contradicts the current state.' },
  PRECONDITION_FAILED: {
    status: 412,
    description:
      'The asset has changed since the `ETag` or version in `If-Match`; tus: another protocol version.',
  },
  PAYLOAD_TOO_LARGE: { status: 413, description: 'The body is larger than the limit.' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    description: 'The Content-Type differs from the one that was announced.',
  },
  RATE_LIMITED: { status: 429, description: 'Too many requests. Retry after `Retry-After` seconds.' },
  INTERNAL_ERROR: { status: 500, description: 'An unexpected error. `request_id` identifies it in the log.' },
  NOT_IMPLEMENTED: { status: 501, description: 'The requested format is not offered.' },
  UNAVAILABLE: {
    status: 503,
    description: 'The database, the store or a provider is not available. Retry after `Retry-After` seconds.',
  },
} as const satisfies Record<string, { status: number; description: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;

export const statusOf = (code: ErrorCode): number => ERROR_CODES[code].status;

type Reason = { readonly codes: readonly ErrorCode[]; readonly description: string };

/** Reasons other than the failure codes. */
const OWN_REASONS = {
  ...REQUEST_REASONS,
  ...ARCHIVE_REASONS,
  missing: { codes: ['UNAUTHORIZED'], description: 'No credentials were sent.' },
  malformed: {
    codes: ['UNAUTHORIZED'],
    description: 'The credentials do not have the expected form, for example a token that is not a JWT.',
  },
  multiple_credentials: {
    codes: ['UNAUTHORIZED'],
    description: 'More than one credential was sent. Send exactly one.',
  },
  bad_signature: { codes: ['UNAUTHORIZED'], description: 'The signature does not verify.' },
  wrong_type: { codes: ['UNAUTHORIZED'], description: 'The `type` claim is not `access`.' },
  missing_claim: {
    codes: ['UNAUTHORIZED'],
    description: 'The token lacks a usable claim, which `field` names.',
  },
  expired: {
    codes: ['UNAUTHORIZED'],
    description: 'The token, service key or signed URL has expired. Request a new one.',
  },
  unknown_key: {
    codes: ['UNAUTHORIZED'],
    description: 'The identity provider has no key with the `kid` of the token.',
  },
  wrong_issuer: {
    codes: ['UNAUTHORIZED'],
    description: 'The `iss` claim names another issuer than the configured identity provider.',
  },
  wrong_audience: {
    codes: ['UNAUTHORIZED'],
    description: 'The `aud` claim does not contain the configured audience.',
  },
  not_yet_valid: { codes: ['UNAUTHORIZED'], description: 'The `nbf` claim of the token lies in the future.' },
  invalid_credential: {
    codes: ['UNAUTHORIZED'],
    description: 'The key, ticket, token or signed URL is not valid.',
  },
  not_configured: {
    codes: ['UNAUTHORIZED'],
    description: 'Webhooks: the secret of this provider is not set.',
  },
  invalid_payload: { codes: ['UNAUTHORIZED'], description: 'Webhooks: the body is not JSON.' },
  missing_scope: {
    codes: ['FORBIDDEN'],
    description: 'The service key does not have the scope that `scope` names.',
  },
  owner_not_allowed: {
    codes: ['FORBIDDEN'],
    description: 'The service key is limited to other owners.',
  },
  operators_only: {
    codes: ['FORBIDDEN'],
    description: 'The console session of a user or service cannot do what operators do.',
  },
  key_revoked: { codes: ['CONFLICT'], description: 'The service key is revoked. Create another one.' },
  name_taken: { codes: ['CONFLICT'], description: 'Another service key that is not revoked has this name.' },
  not_uploaded: {
    codes: ['BAD_REQUEST', 'NOT_FOUND', 'CONFLICT'],
    description: 'The bytes of the asset have not arrived yet. Upload them, then call again.',
  },
  empty_upload: { codes: ['BAD_REQUEST'], description: 'The upload has no bytes.' },
  invalid_cursor: {
    codes: ['BAD_REQUEST'],
    description: 'The cursor belongs to another list, or to other filters or another sort.',
  },
  body_cut_short: {
    codes: ['BAD_REQUEST'],
    description: 'The connection ended before the whole body arrived. Upload again.',
  },
  request_too_slow: { codes: ['BAD_REQUEST'], description: 'The request arrived too slowly.' },
  size_above_limit: {
    codes: ['PAYLOAD_TOO_LARGE'],
    description: 'The body or file is larger than `limit` bytes.',
  },
  partial_upload: {
    codes: ['BAD_REQUEST'],
    description: '`Content-Range` is not supported. Send the whole file in one request.',
  },
  encoded_upload: {
    codes: ['BAD_REQUEST'],
    description: '`Content-Encoding` is not supported. Send the bytes of the file as they are.',
  },
  quota_exceeded: {
    codes: ['BAD_REQUEST'],
    description:
      'A limit of the owner is reached; `field`, `limit` and `used` say which. Delete assets first.',
  },
  rate_limited: {
    codes: ['RATE_LIMITED', 'UNAVAILABLE'],
    description: 'Too many requests. Retry after `Retry-After` seconds.',
  },
  too_many_streams: {
    codes: ['RATE_LIMITED'],
    description:
      'The caller has too many open event streams and long polls; `limit` says how many may be open.',
  },
  busy: { codes: ['UNAVAILABLE'], description: 'The service is busy. Retry after `Retry-After` seconds.' },
  issuer_unavailable: {
    codes: ['UNAVAILABLE'],
    description:
      'The keys of the identity provider cannot be fetched, so that its tokens cannot be verified. ' +
      'Retry after `Retry-After` seconds.',
  },
  disk_full: {
    codes: ['UNAVAILABLE'],
    description: 'The disk is almost full. Retry after `Retry-After` seconds.',
  },
  job_ended: { codes: ['CONFLICT'], description: 'The job has ended.' },
  job_active: { codes: ['CONFLICT'], description: 'The job runs, and ends soon by itself.' },
  job_required: {
    codes: ['CONFLICT'],
    description: 'Without the job something would be left undone, which `message` names.',
  },
  check_running: {
    codes: ['CONFLICT'],
    description: 'Another storage check has not ended. `POST /api/v1/admin/checks/{id}/cancel` ends it.',
  },
  not_encoding: { codes: ['CONFLICT'], description: 'The asset is not being encoded.' },
  wrong_status: {
    codes: ['CONFLICT'],
    description: 'The operation needs another `stream_status` than the asset has.',
  },
  ...UPLOAD_REASONS,
  request_in_progress: {
    codes: ['CONFLICT'],
    description: 'A request with this `Idempotency-Key` is being processed.',
  },
  idempotency_key_reused: {
    codes: ['CONFLICT'],
    description: 'This `Idempotency-Key` was used with another request.',
  },
  provider_cannot_retry: {
    codes: ['CONFLICT'],
    description: 'The provider cannot encode a video again. Upload it again.',
  },
  provider_video_not_linked: {
    codes: ['CONFLICT'],
    description: 'The provider was not reached when the upload was opened.',
  },
  asset_changed: {
    codes: ['CONFLICT'],
    description: 'The asset changed while the request was processed. Call again.',
  },
  too_many_endpoints: {
    codes: ['CONFLICT'],
    description: 'The service has `limit` webhook endpoints. Delete one first.',
  },
  legal_hold: {
    codes: ['CONFLICT'],
    description: 'The asset is under a legal hold: its bytes must stay until the hold is released.',
  },
  ...ASSET_REASONS,
} as const satisfies Record<string, Reason>;

/** A rejected upload is 400, a retry that cannot succeed 409, and what a process cannot do now 503. */
const codesOfFailure = (code: string): readonly ErrorCode[] => [
  ...(['BAD_REQUEST', 'CONFLICT'] as const),
  ...(/^(?:encoder_missing$|provider_)/.test(code) ? (['UNAVAILABLE'] as const) : []),
];

export type ErrorReason = keyof typeof OWN_REASONS | FailureCode;

const FAILURE_REASONS = Object.fromEntries<Reason>(
  Object.entries(FAILURE_CODES).map(([code, description]) => [
    code,
    { codes: codesOfFailure(code), description },
  ]),
) as Record<FailureCode, Reason>;

/** `error.details.reason` → the error codes that it occurs with, and its meaning. */
export const ERROR_REASONS: Readonly<Record<ErrorReason, Reason>> = { ...FAILURE_REASONS, ...OWN_REASONS };

type ReasonsOf<C extends ErrorCode> = {
  [R in keyof typeof OWN_REASONS]: C extends (typeof OWN_REASONS)[R]['codes'][number] ? R : never;
}[keyof typeof OWN_REASONS];

/** `details.reason` of a 401. */
export type UnauthorizedReason = ReasonsOf<'UNAUTHORIZED'>;

/** The reasons of a 401 with their meanings. */
export const UNAUTHORIZED_REASONS = Object.fromEntries(
  Object.entries<Reason>(OWN_REASONS)
    .filter(([, { codes }]) => codes.includes('UNAUTHORIZED'))
    .map(([reason, { description }]) => [reason, description]),
) as Readonly<Record<UnauthorizedReason, string>>;
