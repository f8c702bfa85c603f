// Operations of uploads in parts in the XML of S3, for clients that speak it, such as Uppy.
import { Type } from 'typebox';
import { bytesOperation } from '../operation.ts';
import { UPLOAD_ERRORS } from '../ticket-errors.ts';

const Ticket = {
  ticket: Type.Optional(Type.String({ description: 'Part of the signed URL.' })),
};
const Query = Type.Object({
  ...Ticket,
  uploadId: Type.String({ format: 'uuid', examples: ['6f1c2a52-8f0e-4d7e-9a41-0a3c4c6f7f10'] }),
});

const PATH = '/api/v1/uploads/{id}/s3';
const XML = ['application/xml'];

const shared = { path: PATH, tag: 'Multipart uploads (S3)', auth: 'ticket' } as const;

export const postS3Request = bytesOperation({
  ...shared,
  id: 'postS3Request',
  method: 'POST',
  summary: 'Create or complete an upload, as S3',
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
    ...UPLOAD_ERRORS,
    { code: 'BAD_REQUEST', reason: 'missing_parts', when: 'Parts have not arrived.' },
    { code: 'BAD_REQUEST', reason: 'quota_exceeded', when: 'The quota of the owner is exceeded.' },
    { code: 'PAYLOAD_TOO_LARGE', when: 'The upload is larger than `max_bytes`.' },
  ],
});

export const listS3Parts = bytesOperation({
  ...shared,
  id: 'listS3Parts',
  method: 'GET',
  summary: 'List stored parts, as S3',
  description: 'Lists the parts that the store has, as S3 does.',
  query: Query,
  response: { mediaTypes: XML, description: '`ListPartsResult`' },
  errors: UPLOAD_ERRORS,
});

export const abortS3Upload = bytesOperation({
  ...shared,
  id: 'abortS3Upload',
  method: 'DELETE',
  summary: 'Abort an upload in parts, as S3',
  description: 'Removes an upload with its parts, as S3 does.',
  query: Query,
  otherResponses: { 204: 'Removed.' },
  errors: UPLOAD_ERRORS,
});
