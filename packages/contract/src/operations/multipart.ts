// Operations of uploads in parts that go straight to an S3 store, at a signed URL.
import { Type } from 'typebox';
import { type ErrorCase, jsonOperation } from '../operation.ts';
import { UPLOAD_ERRORS } from '../ticket-errors.ts';
import { Asset, EXAMPLE_ASSET } from '../schemas/assets/asset.ts';
import {
  CompleteMultipartRequest,
  CreatedMultipart,
  EXAMPLE_MULTIPART,
  EXAMPLE_PART,
  EXAMPLE_SIGNED_PART,
  MultipartParts,
  PartChecksum,
  PartSize,
  SignedPart,
  SignedParts,
  SignPartsRequest,
} from '../schemas/multipart.ts';

const Ticket = {
  ticket: Type.Optional(
    Type.String({ description: 'Part of the signed URL. Or send it as `X-Upload-Ticket`.' }),
  ),
};

const COLLECTION = '/api/v1/uploads/{id}/s3-multipart';
const UPLOAD = '/api/v1/uploads/{id}/s3-multipart/{upload}';

const SIGN_ERRORS: readonly ErrorCase[] = [
  ...UPLOAD_ERRORS,
  { code: 'BAD_REQUEST', reason: 'above_maximum', when: 'The upload has fewer parts.' },
  { code: 'BAD_REQUEST', reason: 'part_size_mismatch', when: 'The part must have another length.' },
  { code: 'PAYLOAD_TOO_LARGE', when: 'The upload is larger than `max_bytes`.' },
];

const shared = {
  tag: 'Multipart uploads (S3)',
  auth: 'ticket',
  requestHeaders: ['X-Upload-Ticket'],
} as const;

export const createMultipartUpload = jsonOperation({
  ...shared,
  id: 'createMultipartUpload',
  method: 'POST',
  path: COLLECTION,
  summary: 'Create an upload in parts',
  description: 'An asset has at most two open uploads in parts: a third one aborts the oldest.',
  query: Type.Object(Ticket),
  body: Type.Object(
    {
      size_bytes: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: Number.MAX_SAFE_INTEGER,
          description: 'Size of the file, if it was not announced.',
        }),
      ),
    },
    { examples: [{ size_bytes: 18_412_733 }] },
  ),
  message: 'Upload created',
  data: CreatedMultipart,
  example: EXAMPLE_MULTIPART,
  errors: [
    ...UPLOAD_ERRORS,
    { code: 'BAD_REQUEST', reason: 'quota_exceeded', when: 'The quota of the owner is exceeded.' },
    { code: 'CONFLICT', reason: 'upload_in_progress', when: 'Two other requests created uploads meanwhile.' },
    { code: 'PAYLOAD_TOO_LARGE', when: 'The upload is larger than `max_bytes`.' },
  ],
});

export const signUploadPart = jsonOperation({
  ...shared,
  id: 'signUploadPart',
  method: 'GET',
  path: `${UPLOAD}/{part}`,
  summary: 'Sign a URL for one part',
  description:
    'PUT the part to `url` with `headers`. The store refuses a part of another length. ' +
    'The response of the store has no envelope; its `ETag` identifies the part.',
  query: Type.Object({
    ...Ticket,
    size_bytes: Type.Optional(PartSize),
    checksum_sha256: Type.Optional(PartChecksum),
  }),
  message: 'Part signed',
  data: SignedPart,
  example: EXAMPLE_SIGNED_PART,
  errors: SIGN_ERRORS,
});

export const signUploadParts = jsonOperation({
  ...shared,
  id: 'signUploadParts',
  method: 'POST',
  path: `${UPLOAD}/parts`,
  summary: 'Sign URLs for many parts',
  description: 'Returns signed URLs of many parts.',
  query: Type.Object(Ticket),
  body: SignPartsRequest,
  isBodyRequired: true,
  message: 'Parts signed',
  data: SignedParts,
  example: { parts: [EXAMPLE_SIGNED_PART] },
  errors: SIGN_ERRORS,
});

export const listUploadParts = jsonOperation({
  ...shared,
  id: 'listUploadParts',
  method: 'GET',
  path: UPLOAD,
  summary: 'List stored parts',
  description: 'An interrupted upload continues with the parts that are missing.',
  query: Type.Object(Ticket),
  message: 'Parts',
  data: MultipartParts,
  example: { parts: [EXAMPLE_PART] },
  errors: UPLOAD_ERRORS,
});

export const completeMultipartUpload = jsonOperation({
  ...shared,
  id: 'completeMultipartUpload',
  method: 'POST',
  path: `${UPLOAD}/complete`,
  summary: 'Complete an upload in parts',
  description:
    'Can be repeated. `POST /api/v1/media/{id}/complete` then starts the processing, as after a PUT.',
  query: Type.Object(Ticket),
  body: CompleteMultipartRequest,
  message: 'Uploaded',
  data: Asset,
  example: { ...EXAMPLE_ASSET, stream_status: 'pending_upload' },
  errors: [
    ...UPLOAD_ERRORS,
    { code: 'BAD_REQUEST', reason: 'missing_parts', when: 'Parts have not arrived.' },
    { code: 'BAD_REQUEST', reason: 'part_changed', when: 'The store has another `ETag` of a part.' },
    { code: 'BAD_REQUEST', reason: 'quota_exceeded', when: 'The quota of the owner is exceeded.' },
    { code: 'PAYLOAD_TOO_LARGE', when: 'The upload is larger than `max_bytes`.' },
  ],
});

export const abortMultipartUpload = jsonOperation({
  ...shared,
  id: 'abortMultipartUpload',
  method: 'DELETE',
  path: UPLOAD,
  summary: 'Abort an upload in parts',
  description: 'Removes an upload with its parts.',
  query: Type.Object(Ticket),
  message: 'Upload aborted',
  data: Type.Object({ uploadId: Type.String(), aborted: Type.Literal(true) }),
  example: { uploadId: EXAMPLE_MULTIPART.uploadId, aborted: true },
  errors: [
    ...UPLOAD_ERRORS,
    { code: 'CONFLICT', reason: 'upload_in_progress', when: 'Another request completes the upload.' },
  ],
});
