// Operations of resumable uploads: tus 1.0.0 at a signed URL.
import { Type } from 'typebox';
import { bytesOperation, type ErrorCase } from '../operation.ts';
import { UPLOAD_ERRORS } from '../ticket-errors.ts';

const Ticket = Type.Object({
  ticket: Type.Optional(Type.String({ description: 'Part of the signed URL.' })),
});

const COLLECTION = '/api/v1/uploads/{id}/tus';
const UPLOAD = '/api/v1/uploads/{id}/tus/{upload}';

const ERRORS: readonly ErrorCase[] = [
  ...UPLOAD_ERRORS,
  { code: 'PRECONDITION_FAILED', when: '`Tus-Resumable` is not `1.0.0`; see `Tus-Version`.' },
];

const BODY_ERRORS: readonly ErrorCase[] = [
  ...ERRORS,
  { code: 'BAD_REQUEST', reason: 'body_cut_short', when: 'The body ended early; what arrived is kept.' },
  { code: 'BAD_REQUEST', reason: 'quota_exceeded', when: 'The quota of the owner is exceeded.' },
  { code: 'CONFLICT', reason: 'offset_mismatch', when: 'The upload has another offset.' },
  {
    code: 'CONFLICT',
    reason: 'upload_in_progress',
    when:
      'Another request is writing this upload, or requests are writing all open uploads that an asset may ' +
      'have. Try again after `Retry-After`.',
  },
  { code: 'PAYLOAD_TOO_LARGE', when: 'The upload is larger than announced, or than `max_bytes`.' },
  { code: 'UNAVAILABLE', reason: 'disk_full', when: 'Less than `MIN_FREE_BYTES` is free.' },
];

const shared = { tag: 'Resumable uploads (tus)', auth: 'ticket', query: Ticket } as const;
const TUS = { 'Tus-Resumable': '1.0.0' } as const;
const BODY = { mediaTypes: ['application/offset+octet-stream'], description: 'The next bytes of the file.' };

export const createResumableUpload = bytesOperation({
  ...shared,
  id: 'createResumableUpload',
  method: 'POST',
  path: COLLECTION,
  summary: 'Create a resumable upload',
  requestExample: { headers: { ...TUS, 'Upload-Length': '18412733' } },
  description:
    '`Location` is relative. Send `Upload-Length` or `Upload-Defer-Length: 1`. A body is the first part ' +
    'of the file. `Upload-Concat: partial` creates a part of the file, with `Upload-Length`. ' +
    '`Upload-Concat: final;` and the URLs of up to 16 parts, separated by spaces, joins them in this ' +
    'order, without length and body. It responds when the file is stored as after a PUT, and can be ' +
    'repeated. For a hosted provider that needs the length (`edgehost`), the service creates the upload ' +
    'there. `Location` is absolute and takes the bytes, `Upload-Length` is required, and a body is ' +
    'refused. Each creation replaces the earlier one.',
  body: BODY,
  otherResponses: { 201: 'Created; `Location` is the upload.' },
  errors: [
    ...BODY_ERRORS,
    { code: 'BAD_REQUEST', reason: 'invalid_value', when: '`Upload-Concat` cannot be read.' },
    { code: 'BAD_REQUEST', reason: 'required', when: 'A partial upload has no `Upload-Length`.' },
    { code: 'BAD_REQUEST', reason: 'above_maximum', when: 'The asset has 16 partial uploads already.' },
    {
      code: 'BAD_REQUEST',
      reason: 'unknown_partial',
      when: '`Upload-Concat` names an upload that is no partial upload of this asset.',
    },
    { code: 'BAD_REQUEST', reason: 'partial_incomplete', when: 'A partial upload has not all its bytes.' },
    { code: 'UNAVAILABLE', reason: 'busy', when: 'Too many files are being joined. Send it again.' },
    { code: 'CONFLICT', reason: 'asset_changed', when: 'The asset changed meanwhile. Try again.' },
    { code: 'UNAVAILABLE', reason: 'provider_unreachable', when: 'The video provider cannot be reached.' },
    { code: 'UNAVAILABLE', reason: 'provider_quota', when: 'The storage of the video provider is full.' },
  ],
});

export const describeResumableUploads = bytesOperation({
  ...shared,
  id: 'describeResumableUploads',
  method: 'OPTIONS',
  path: COLLECTION,
  summary: 'Get the tus version and extensions',
  otherResponses: { 204: '`Tus-Version`, `Tus-Extension` and `Tus-Max-Size`.' },
  errors: ERRORS,
});

export const findUploadOffset = bytesOperation({
  ...shared,
  id: 'findUploadOffset',
  method: 'HEAD',
  path: UPLOAD,
  summary: 'Get the stored number of bytes',
  requestExample: { headers: TUS },
  description:
    'Returns the number of bytes that are stored. `Upload-Concat` is `partial`, or names the parts of a ' +
    'final upload, which has no `Upload-Offset` until they are joined.',
  otherResponses: {
    200: '`Upload-Offset`: continue there.',
    423: 'Another request does not let go of the upload. Try again.',
  },
  errors: ERRORS,
});

export const patchResumableUpload = bytesOperation({
  ...shared,
  id: 'patchResumableUpload',
  method: 'PATCH',
  path: UPLOAD,
  summary: 'Append bytes',
  requestExample: {
    headers: { ...TUS, 'Upload-Offset': '0', 'Content-Type': 'application/offset+octet-stream' },
    file: 'launch.mp4',
  },
  description: '`Upload-Offset` of the response is durable. The last byte finishes the upload as a PUT does.',
  body: BODY,
  otherResponses: { 204: 'Stored up to `Upload-Offset`.' },
  errors: [
    ...BODY_ERRORS,
    { code: 'FORBIDDEN', reason: 'final_upload', when: 'The upload consists of partial uploads.' },
  ],
});

export const terminateResumableUpload = bytesOperation({
  ...shared,
  id: 'terminateResumableUpload',
  method: 'DELETE',
  path: UPLOAD,
  summary: 'Delete a resumable upload',
  requestExample: { headers: TUS },
  description: 'Removes a resumable upload with its bytes.',
  otherResponses: { 204: 'Removed.' },
  errors: ERRORS,
});
