// Operations on assets: create, complete, retry, list, get, update.
import { EXAMPLE_ASSET, Asset } from '../schemas/assets/asset.ts';
import { OwnerOnly } from '../schemas/common.ts';
import {
  AssetPage,
  AssetQuery,
  EXAMPLE_ASSET_PAGE,
  EXAMPLE_TIMELINE,
  ListAssetsQuery,
  TimelinePage,
  TimelineQuery,
  UpdateAssetRequest,
} from '../schemas/library.ts';
import {
  CreateUploadQuery,
  CreateUploadRequest,
  EXAMPLE_OPEN_UPLOAD,
  EXAMPLE_RETRY,
  OpenUpload,
  RetryQuery,
} from '../schemas/uploads.ts';
import { type ErrorCase, jsonOperation } from '../operation.ts';

const NOT_FOUND: ErrorCase = { code: 'NOT_FOUND', when: 'No such asset, or it is deleted.' };
const FORBIDDEN: ErrorCase = { code: 'FORBIDDEN', when: 'You do not own this asset.' };
export const EXTERNAL_ID_TAKEN: ErrorCase = {
  code: 'CONFLICT',
  reason: 'external_id_taken',
  when: 'Another asset of the owner has this `external_id`.',
};
export const HELD: ErrorCase = {
  code: 'CONFLICT',
  reason: 'legal_hold',
  when: 'The asset is under a legal hold.',
};
export const TOO_MANY_TO_SORT: ErrorCase = {
  code: 'BAD_REQUEST',
  reason: 'too_many_to_sort',
  when: 'More than `SORTED_LIST_MAX_ASSETS` assets pass the other filters.',
};
export const STALE: ErrorCase = { code: 'PRECONDITION_FAILED', when: '`If-Match` names another version.' };

/** Failures of every operation on one asset. */
export const ASSET_ERRORS: readonly ErrorCase[] = [FORBIDDEN, NOT_FOUND];

export const createUpload = jsonOperation({
  id: 'createUpload',
  acceptsUploadTokens: true,
  method: 'POST',
  path: '/api/v1/media/upload-url',
  tag: 'Uploads',
  auth: 'caller',
  summary: 'Create an upload',
  description:
    'The asset starts as `pending_upload`. Send the bytes to `upload.url` with `upload.headers`, ' +
    'then complete the upload. Repeat the request with the same `Idempotency-Key` to get the same ' +
    'asset. With `deduplicate=true` and the `checksum_sha256` of bytes that the owner has uploaded ' +
    'before, the response names the existing asset. With `if_exists=return`, so does a request whose ' +
    '`external_id` the owner has used: it can be repeated for ever.',
  requestHeaders: ['Idempotency-Key'],
  query: CreateUploadQuery,
  body: CreateUploadRequest,
  isBodyRequired: true,
  message: 'Upload URL',
  data: OpenUpload,
  example: EXAMPLE_OPEN_UPLOAD,
  errors: [
    { code: 'BAD_REQUEST', reason: 'quota_exceeded', when: 'A quota of the owner is exceeded.' },
    EXTERNAL_ID_TAKEN,
    { code: 'CONFLICT', reason: 'owner_is_being_erased', when: 'An operator erases this owner.' },
    { code: 'CONFLICT', when: 'Another asset is linked to `provider_video_id`.' },
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
    { code: 'PAYLOAD_TOO_LARGE', when: '`size_bytes` is above `MAX_UPLOAD_BYTES`.' },
    { code: 'UNAVAILABLE', reason: 'provider_unreachable', when: 'The video provider cannot be reached.' },
    { code: 'UNAVAILABLE', reason: 'provider_quota', when: 'The storage of the video provider is full.' },
    { code: 'UNAVAILABLE', reason: 'disk_full', when: 'Less than `MIN_FREE_BYTES` is free.' },
  ],
});

export const completeUpload = jsonOperation({
  id: 'completeUpload',
  acceptsUploadTokens: true,
  method: 'POST',
  path: '/api/v1/media/{id}/complete',
  tag: 'Uploads',
  auth: 'caller',
  summary: 'Complete an upload',
  description:
    'Checks size, checksum, type and, for videos, that there is a video track. Rejected bytes are ' +
    'removed and the asset is `failed`. Repeating the call returns the same response.',
  requestHeaders: ['Idempotency-Key'],
  body: OwnerOnly,
  message: 'Upload complete',
  data: Asset,
  example: { ...EXAMPLE_ASSET, stream_status: 'processing', progress: 0, ready_at: null },
  errors: [
    ...ASSET_ERRORS,
    { code: 'BAD_REQUEST', reason: 'not_uploaded', when: 'The bytes have not arrived yet; nothing changes.' },
    { code: 'BAD_REQUEST', reason: 'type_mismatch', when: 'The bytes are not of the announced `mime_type`.' },
    {
      code: 'CONFLICT',
      reason: 'provider_video_not_linked',
      when: 'The video provider was not reached when the upload was opened. Open another one.',
    },
    { code: 'UNAVAILABLE', reason: 'busy', when: 'Too many uploads are being checked.' },
  ],
});

export const retryAsset = jsonOperation({
  id: 'retryAsset',
  method: 'POST',
  path: '/api/v1/media/{id}/retry',
  tag: 'Uploads',
  auth: 'caller',
  summary: 'Retry a failed asset',
  description:
    'Existing renditions stay playable until the new attempt is ready. If the bytes were rejected or the ' +
    'upload expired, the asset becomes `pending_upload` and the response contains a new upload target. ' +
    'Earlier upload URLs become invalid. A failed import whose URL is still stored is imported again, ' +
    'and a failed clip is cut again, without an upload target. Repeating the call returns the open ' +
    'attempt.',
  requestHeaders: ['Idempotency-Key'],
  query: RetryQuery,
  body: OwnerOnly,
  message: 'Asset retried',
  data: OpenUpload,
  example: EXAMPLE_RETRY,
  errors: [
    ...ASSET_ERRORS,
    { code: 'BAD_REQUEST', reason: 'quota_exceeded', when: 'A quota of the owner is exceeded.' },
    { code: 'CONFLICT', reason: 'wrong_status', when: 'The asset has not failed.' },
    {
      code: 'CONFLICT',
      reason: 'legal_hold',
      when: 'The asset is under a legal hold, and the retry would replace its bytes.',
    },
    { code: 'CONFLICT', reason: 'unsupported_codec', when: 'The failure is not retryable.' },
    {
      code: 'CONFLICT',
      reason: 'provider_cannot_retry',
      when: 'The video provider cannot encode a video again.',
    },
  ],
});

export const listAssets = jsonOperation({
  id: 'listAssets',
  method: 'GET',
  path: '/api/v1/media',
  tag: 'Assets',
  auth: 'caller',
  summary: 'List assets',
  description: "Lists the owner's assets, newest first unless `sort` says otherwise.",
  query: ListAssetsQuery,
  requestExample: { query: { kind: 'video', stream_status: 'ready' } },
  message: 'Assets',
  data: AssetPage,
  example: EXAMPLE_ASSET_PAGE,
  errors: [TOO_MANY_TO_SORT],
});

export const getAsset = jsonOperation({
  id: 'getAsset',
  acceptsUploadTokens: true,
  method: 'GET',
  path: '/api/v1/media/{id}',
  tag: 'Assets',
  auth: 'caller',
  summary: 'Get an asset',
  description:
    '`wait` with `If-None-Match` is a long poll. The response is sent as soon as the asset changes, and ' +
    'is 304 if it did not change in this time.',
  query: AssetQuery,
  requestHeaders: ['If-None-Match'],
  message: 'Asset',
  data: Asset,
  example: EXAMPLE_ASSET,
  hasEtag: true,
  errors: [
    ...ASSET_ERRORS,
    { code: 'RATE_LIMITED', reason: 'too_many_streams', when: 'The caller has too many open long polls.' },
  ],
});

export const updateAsset = jsonOperation({
  id: 'updateAsset',
  method: 'PATCH',
  path: '/api/v1/media/{id}',
  tag: 'Assets',
  auth: 'caller',
  summary: 'Update an asset',
  description: 'Omitted members keep their values; null clears them. Unknown members are rejected.',
  requestHeaders: ['If-Match'],
  body: UpdateAssetRequest,
  message: 'Asset updated',
  data: Asset,
  example: { ...EXAMPLE_ASSET, version: 2 },
  errors: [
    ...ASSET_ERRORS,
    STALE,
    EXTERNAL_ID_TAKEN,
    { code: 'BAD_REQUEST', reason: 'unknown_member', when: 'The body has an unknown member.' },
  ],
});

export const getTimeline = jsonOperation({
  id: 'getTimeline',
  method: 'GET',
  path: '/api/v1/media/{id}/timeline',
  tag: 'Assets',
  auth: 'caller',
  summary: 'List the timeline of an asset',
  description: 'Lists what happened to an asset, oldest first.',
  query: TimelineQuery,
  message: 'Timeline',
  data: TimelinePage,
  example: EXAMPLE_TIMELINE,
  errors: ASSET_ERRORS,
});
