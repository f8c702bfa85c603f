// Operations of uploads in parts in the XML of S3, for clients that speak it, such as Uppy.
import { Type } from 'typebox';
import { bytesOperation, type ErrorCase } from '../operation.ts';

const Ticket = {
  ticket: Type.Optional(Type.String({ description: 'Part of the signed URL.' })),
};
const Query = Type.Object({ ...Ticket, uploadId: Type.String({ format: 'uuid' }) });

const PATH = '/api/v1/uploads/{id}/s3';
const XML = ['application/xml'];

const ERRORS: readonly ErrorCase[] = [
  { code: 'UNAUTHORIZED', reason: 'expired', when: 'The signed URL has expired.' },
  { code: 'UNAUTHORIZED', reason: 'invalid', when: 'The signature of the URL is missing or altered.' },
  { code: 'NOT_FOUND', when: 'No such asset or upload, or the upload has expired.' },
  { code: 'CONFLICT', reason: 'already_uploaded', when: 'The bytes are stored already.' },
];

const shared = { path: PATH, tag: 'Uploads', auth: 'ticket' } as const;

export const postS3Request = bytesOperation({
  ...shared,
  id: 'postS3Request',
  method: 'POST',
  summary: 'Creates an upload in parts, or completes one, as S3 does',
  description:
    'Without `uploadId` it creates an upload, with it it joins the parts that the store has; the body is ' +
    'not read. Errors have the envelope. The parts themselves are sent to the store, at signed URLs.',
  query: Type.Object({ ...Ticket, uploadId: Type.Optional(Query.properties.uploadId) }),
  body: { mediaTypes: XML, description: '`CompleteMultipartUpload`' },
  response: {
    mediaTypes: XML,
    description: '`InitiateMultipartUploadResult` or `CompleteMultipartUploadResult`',
  },
  errors: [
    ...ERRORS,
    { code: 'BAD_REQUEST', reason: 'missing_parts', when: 'Parts have not arrived.' },
    { code: 'BAD_REQUEST', reason: 'quota_exceeded', when: 'The quota of the owner is exceeded.' },
    { code: 'PAYLOAD_TOO_LARGE', when: 'The upload is larger than `max_bytes`.' },
  ],
});

export const listS3Parts = bytesOperation({
  ...shared,
  id: 'listS3Parts',
  method: 'GET',
  summary: 'Lists the parts that the store has, as S3 does',
  query: Query,
  response: { mediaTypes: XML, description: '`ListPartsResult`' },
  errors: ERRORS,
});

export const abortS3Upload = bytesOperation({
  ...shared,
  id: 'abortS3Upload',
  method: 'DELETE',
  summary: 'Removes an upload with its parts, as S3 does',
  query: Query,
  otherResponses: { 204: 'Removed.' },
  errors: ERRORS,
});
