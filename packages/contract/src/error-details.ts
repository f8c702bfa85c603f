// The members of `error.details` with their meanings.

/** Members of `error.details`, each present where it says something. */
export const ERROR_DETAILS = {
  reason: 'The cause, for programs.',
  field: 'The member, parameter or header that is wrong.',
  limit: 'The limit that the value or the request breaks.',
  allowed: 'The allowed values.',
  errors:
    'Of an invalid request: every invalid field with its `reason`, `limit` or `allowed`, and `message`. ' +
    'Beside the list stand the members of its first entry.',
  version: '412: the current version of the asset.',
  used: '`quota_exceeded`: how much the owner uses already.',
  expected: 'What was expected instead: a size in bytes, a media type or an offset.',
  missing: '`missing_parts`: the first 100 numbers of parts that have not arrived.',
  line: '`invalid_captions`: the line of the file.',
  scope: '`missing_scope`: the scope that the service key needs.',
  retryable: 'Whether `retry` of the asset can succeed.',
  stream_status: 'The state of the asset, where the operation needs another one.',
  policy: '429: the name of the rate limit.',
  window_s:
    'Seconds. 429: the window of the rate limit. `request_too_slow`: the time in which data had to arrive.',
  min_bytes: '`request_too_slow`: how much had to arrive in `window_s`.',
} as const;
