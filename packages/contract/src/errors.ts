// Error codes and the reasons behind them, as data: documentation, SDK and service read the same table.

/** `error.error_code` → HTTP status, and what it means. */
export const ERROR_CODES = {
  BAD_REQUEST: { status: 400, description: 'The request is missing something or holds an invalid value.' },
  UNAUTHORIZED: { status: 401, description: 'Credentials are missing, malformed, expired or wrong.' },
  FORBIDDEN: { status: 403, description: 'The asset belongs to another user.' },
  NOT_FOUND: { status: 404, description: 'No such asset or route.' },
  CONFLICT: { status: 409, description: 'The request contradicts the current state.' },
  PRECONDITION_FAILED: { status: 412, description: 'The asset has another version than `If-Match` names.' },
  PAYLOAD_TOO_LARGE: { status: 413, description: 'The body is larger than the limit.' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    description: 'The Content-Type differs from the one that was announced.',
  },
  RATE_LIMITED: { status: 429, description: 'Too many requests. Retry after `Retry-After` seconds.' },
  INTERNAL_ERROR: { status: 500, description: 'An unexpected error. `request_id` identifies it in the log.' },
  UNAVAILABLE: {
    status: 503,
    description: 'The database, the store or a provider is not available. Retry after `Retry-After` seconds.',
  },
} as const satisfies Record<string, { status: number; description: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;

export const statusOf = (code: ErrorCode): number => ERROR_CODES[code].status;

type Reason = { readonly codes: readonly ErrorCode[]; readonly description: string };

/** `error.details.reason` → the codes that it comes with, and what to do. */
export const ERROR_REASONS = {
  missing: { codes: ['UNAUTHORIZED'], description: 'No credentials were sent.' },
  malformed: { codes: ['UNAUTHORIZED'], description: 'The access token is not a well-formed HS256 JWT.' },
  expired: {
    codes: ['UNAUTHORIZED'],
    description: 'The token or signed URL has expired. Request a new one.',
  },
  not_yet_valid: { codes: ['UNAUTHORIZED'], description: 'The `nbf` claim of the token lies in the future.' },
  bad_signature: { codes: ['UNAUTHORIZED'], description: 'The signature of the token does not verify.' },
  wrong_type: { codes: ['UNAUTHORIZED'], description: 'The `type` claim is not `access`.' },
  missing_claim: { codes: ['UNAUTHORIZED'], description: 'The token has no usable `user_id` claim.' },
  not_uploaded: {
    codes: ['BAD_REQUEST', 'NOT_FOUND'],
    description: 'The bytes of the asset have not arrived yet. Upload them, then call again.',
  },
  empty_upload: { codes: ['BAD_REQUEST'], description: 'The upload has no bytes.' },
  invalid_cursor: {
    codes: ['BAD_REQUEST'],
    description: 'The cursor belongs to another list, or to other filters or another sort.',
  },
  unknown_member: {
    codes: ['BAD_REQUEST'],
    description: 'The body has a member that the operation does not know.',
  },
  cut_short: {
    codes: ['BAD_REQUEST'],
    description: 'The connection ended before the whole body arrived. Upload again.',
  },
  too_slow: { codes: ['BAD_REQUEST'], description: 'The request arrived more slowly than the minimum rate.' },
  size_mismatch: { codes: ['BAD_REQUEST'], description: 'The stored size differs from `size_bytes`.' },
  checksum_mismatch: {
    codes: ['BAD_REQUEST'],
    description: 'The stored bytes do not match `checksum_sha256`.',
  },
  type_mismatch: { codes: ['BAD_REQUEST'], description: 'The bytes are not of the announced `mime_type`.' },
  playlist: { codes: ['BAD_REQUEST'], description: 'The file is a playlist that names other files.' },
  not_media: { codes: ['BAD_REQUEST'], description: 'The file cannot be read as media.' },
  no_video_track: { codes: ['BAD_REQUEST'], description: 'The file has no video track.' },
  truncated: { codes: ['BAD_REQUEST'], description: 'The end of the file is missing.' },
  too_large_picture: { codes: ['BAD_REQUEST'], description: 'The picture has more pixels than allowed.' },
  already_uploaded: { codes: ['CONFLICT'], description: 'The bytes of this asset are stored already.' },
  upload_in_progress: { codes: ['CONFLICT'], description: 'Another request is uploading this asset.' },
  in_progress: {
    codes: ['CONFLICT'],
    description: 'A request with this `Idempotency-Key` is being processed.',
  },
  other_request: {
    codes: ['CONFLICT'],
    description: 'This `Idempotency-Key` was used with another request.',
  },
  no_restart: {
    codes: ['CONFLICT'],
    description: 'The provider cannot encode a video again. Upload it again.',
  },
  not_linked: {
    codes: ['CONFLICT'],
    description: 'The provider was not reached when the upload was opened.',
  },
  changed: {
    codes: ['CONFLICT'],
    description: 'The asset changed while the request was processed. Call again.',
  },
  no_download: { codes: ['NOT_FOUND'], description: 'The provider offers no file for download.' },
  provider_unreachable: { codes: ['UNAVAILABLE'], description: 'The video provider cannot be reached.' },
  provider_timeout: { codes: ['UNAVAILABLE'], description: 'The video provider did not respond in time.' },
  provider_rate_limited: {
    codes: ['UNAVAILABLE'],
    description: "The video provider's rate limit is reached.",
  },
  provider_error: { codes: ['UNAVAILABLE'], description: 'The video provider reports an error of its own.' },
  provider_credentials: {
    codes: ['UNAVAILABLE'],
    description: 'The video provider rejects the configured credentials.',
  },
  provider_rejected: { codes: ['BAD_REQUEST'], description: 'The video provider rejects the request.' },
} as const satisfies Record<string, Reason>;

export type ErrorReason = keyof typeof ERROR_REASONS;
