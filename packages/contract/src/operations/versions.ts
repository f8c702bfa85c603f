// Operations on the versions of an asset's file: replace it, list them, go back.
import { jsonOperation } from '../operation.ts';
import { Asset, EXAMPLE_ASSET } from '../schemas/assets/asset.ts';
import { OwnerOnly } from '../schemas/common.ts';
import { EXAMPLE_OPEN_UPLOAD, OpenUpload } from '../schemas/uploads.ts';
import { AssetVersionPage, EXAMPLE_VERSIONS, ReplaceFileRequest } from '../schemas/versions.ts';
import { ASSET_ERRORS, HELD } from './media.ts';

const REPLACEMENT_ID = '019ab5a0-1c2d-7e3f-8a4b-5c6d7e8f9a0b';

export const replaceFile = jsonOperation({
  id: 'replaceFile',
  method: 'POST',
  path: '/api/v1/media/{id}/replace',
  tag: 'Uploads',
  auth: 'caller',
  summary: 'Replace the file of an asset',
  description:
    'The response is that of an upload: `asset_id` names the replacement, an asset of its own. Send its ' +
    'bytes and complete it. The old file plays until the new one is ready. Then the asset has the new ' +
    'file under its own id, with an event `asset.replaced`, and the replacement is deleted. What is ' +
    'about the asset stays: title, tags, metadata, `external_id`, visibility, access, collections. What ' +
    'is about the file is that of the replacement. `keep` takes over captions, chapters, poster and ' +
    'focal point; they can also be set on the replacement before. A failed replacement can be retried, ' +
    'or deleted; the next call deletes it.',
  requestHeaders: ['Idempotency-Key'],
  body: ReplaceFileRequest,
  isBodyRequired: true,
  message: 'Upload URL of the replacement',
  data: OpenUpload,
  example: { ...EXAMPLE_OPEN_UPLOAD, asset_id: REPLACEMENT_ID },
  errors: [
    ...ASSET_ERRORS,
    { code: 'BAD_REQUEST', reason: 'quota_exceeded', when: 'A quota of the owner is exceeded.' },
    { code: 'BAD_REQUEST', reason: 'other_kind', when: '`mime_type` is of another kind than the asset.' },
    HELD,
    {
      code: 'CONFLICT',
      reason: 'replacement_in_progress',
      when: 'The asset has a replacement that has not failed. `details.replacement_id` names it.',
    },
    { code: 'CONFLICT', reason: 'not_stored_here', when: 'A hosted provider stores the video.' },
    { code: 'CONFLICT', reason: 'wrong_status', when: 'The asset is neither `ready` nor `failed`.' },
    { code: 'CONFLICT', reason: 'is_replacement', when: 'The asset is a replacement itself.' },
    { code: 'CONFLICT', reason: 'owner_is_being_erased', when: 'An operator erases this owner.' },
    { code: 'PAYLOAD_TOO_LARGE', when: '`size_bytes` is above `MAX_UPLOAD_BYTES`.' },
    { code: 'UNAVAILABLE', reason: 'disk_full', when: 'Less than `MIN_FREE_BYTES` is free.' },
  ],
});

export const listVersions = jsonOperation({
  id: 'listVersions',
  method: 'GET',
  path: '/api/v1/media/{id}/versions',
  tag: 'Assets',
  auth: 'caller',
  summary: 'List the versions of the file',
  description:
    'The replacement that is not ready yet, the current file, and the one before it. Earlier ones are gone.',
  message: 'Versions',
  data: AssetVersionPage,
  example: EXAMPLE_VERSIONS,
  errors: ASSET_ERRORS,
});

export const rollBack = jsonOperation({
  id: 'rollBack',
  method: 'POST',
  path: '/api/v1/media/{id}/rollback',
  tag: 'Assets',
  auth: 'caller',
  summary: 'Bring the previous file back',
  description:
    'Possible for `TRASH_DAYS` after a replacement. The two files change places at once, so a second ' +
    'rollback brings the newer one back. The event is `asset.replaced` with the reason `rolled_back`.',
  requestHeaders: ['Idempotency-Key'],
  body: OwnerOnly,
  message: 'Previous file restored',
  data: Asset,
  example: { ...EXAMPLE_ASSET, version: 3 },
  errors: [
    ...ASSET_ERRORS,
    { code: 'CONFLICT', reason: 'no_previous_version', when: 'No previous file is kept.' },
    { code: 'CONFLICT', reason: 'wrong_status', when: 'The asset is being processed again.' },
    HELD,
  ],
});
