// Operations on imports: create an asset from a URL.
import { Type } from 'typebox';
import { jsonOperation } from '../operation.ts';
import { Asset, EXAMPLE_NEW_ASSET } from '../schemas/assets/asset.ts';
import { ImportRequest } from '../schemas/imports.ts';
import { ifExists } from '../schemas/uploads.ts';
import { EXTERNAL_ID_TAKEN } from './media.ts';

export const importMedia = jsonOperation({
  id: 'importMedia',
  method: 'POST',
  path: '/api/v1/media/import',
  tag: 'Uploads',
  auth: 'caller',
  summary: 'Import a file from a URL',
  description:
    'The asset starts as `pending_upload`. A worker downloads the file, then completes the upload by ' +
    'itself, with the same checks. Where `filename` or `mime_type` is omitted, the service requests the ' +
    'URL once before it answers, and takes them from the response. Downloads follow redirects, continue ' +
    'after a cut, and never reach private addresses. The timeline shows the progress. The URL and its ' +
    'headers are stored until the import ends, after `import_failed` and `import_timeout` until the ' +
    'upload expires: `retry` imports again in that time. The file of a video at a hosted provider goes ' +
    'on to the provider once it has passed the checks. The service then removes its own copy. A failure ' +
    'of the provider (`provider_…`, `upload_failed`) can be retried in the same way.',
  requestHeaders: ['Idempotency-Key'],
  query: Type.Object(ifExists),
  body: ImportRequest,
  isBodyRequired: true,
  message: 'Import started',
  data: Asset,
  example: EXAMPLE_NEW_ASSET,
  errors: [
    {
      code: 'BAD_REQUEST',
      reason: 'url_private_address',
      when: 'Imports may not reach the address of `url`.',
    },
    { code: 'BAD_REQUEST', reason: 'import_failed', when: 'The first request to `url` failed.' },
    {
      code: 'BAD_REQUEST',
      reason: 'import_timeout',
      when: '`url` did not answer the first request in time.',
    },
    { code: 'BAD_REQUEST', reason: 'quota_exceeded', when: 'A quota of the owner is exceeded.' },
    EXTERNAL_ID_TAKEN,
    { code: 'CONFLICT', reason: 'owner_is_being_erased', when: 'An operator erases this owner.' },
    {
      code: 'CONFLICT',
      reason: 'request_in_progress',
      when: 'A request with this `Idempotency-Key` is running.',
    },
    {
      code: 'CONFLICT',
      reason: 'idempotency_key_reused',
      when: 'The `Idempotency-Key` was used with another request.',
    },
    { code: 'PAYLOAD_TOO_LARGE', when: 'The file is larger than `MAX_UPLOAD_BYTES`.' },
    { code: 'UNAVAILABLE', reason: 'busy', when: 'Too many first requests of imports are running.' },
    { code: 'UNAVAILABLE', reason: 'disk_full', when: 'Less than `MIN_FREE_BYTES` is free.' },
  ],
});
