// The first page of the API reference: `info.description` of the OpenAPI document.

export const INTRODUCTION = [
  'One API between an application and everything that stores, encodes ' +
    'and streams its images, videos and audio files.',
  '',
  '## Authentication',
  '',
  'Send exactly one credential with each request.',
  '',
  '- `Authorization: Bearer <token>`: an access token of a user, who owns what the request creates.',
  '- `X-Service-Key`: your back end. It names the owner in `owner_user_id`.',
  '- `X-Operator-Key`: the operators of the service, below `/api/v1/admin`.',
  '',
  'Uploads, downloads and playback of private assets use signed URLs, which the API returns.',
  '',
  '## Upload in three steps',
  '',
  '1. `POST /api/v1/media/upload-url` creates an asset and returns `upload`: where to send the ' +
    'bytes, and how.',
  '2. Send the bytes to `upload.url` with `upload.method` and `upload.headers`.',
  '3. `POST /api/v1/media/{id}/complete` validates them and starts processing.',
  '',
  'The asset becomes `ready` in the background. Follow it with `GET /api/v1/media/{id}/events`, a ' +
    'long poll (`GET /api/v1/media/{id}?wait=30` with `If-None-Match`) or a webhook. Then `GET ' +
    '/api/v1/media/{id}/playback` returns the URLs for players.',
  '',
  '## Responses and errors',
  '',
  'Every JSON response has one envelope: `success`, `message`, `code` (the HTTP status), `data` or ' +
    '`error` {`error_code`, `details`}, `request_id`, `timestamp`. Programs decide by ' +
    '`error.error_code` and `error.details.reason`; `message` is for people. Of an invalid request, ' +
    '`details.errors` lists every invalid field.',
  '',
  'Members and parameters that an operation does not know are listed in the response header ' +
    '`Ignored-Members`. With `Prefer: handling=strict` they are refused; PATCH always refuses them.',
  '',
  '## Pages',
  '',
  'Lists return `items` and `next_cursor`. Pass `next_cursor` as `cursor` to read the next page; ' +
    'null: there is none.',
  '',
  '## Repeated requests',
  '',
  'Send an `Idempotency-Key` of your own with a POST below `/api/v1/media`: a repeated request ' +
    'with the same key and the same body returns the first response for a day. Retry 429 and 503 ' +
    'after `Retry-After` seconds.',
  '',
  '## Versions',
  '',
  'Within `/api/v1`, members, reasons, event types, warnings and enum values may be added; ignore ' +
    'what you do not know. Nothing is removed or changes its meaning. What will go is announced by ' +
    'the headers `Deprecation` and `Sunset` a year before.',
].join('\n');
