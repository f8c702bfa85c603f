// Where to send the bytes of an asset: one schema for each protocol.
import { type Static, Type } from 'typebox';
import { Timestamp } from './common.ts';

const target = {
  url: Type.String({ description: 'Absolute URL.' }),
  headers: Type.Record(Type.String(), Type.String(), { description: 'Send them with every request.' }),
  expires_at: Timestamp,
  max_bytes: Type.Integer(),
};

const PutUploadTarget = Type.Object(
  { protocol: Type.Literal('put'), method: Type.Literal('PUT'), ...target },
  {
    $id: 'PutUploadTarget',
    description:
      'Send the bytes as the body of one PUT request, to the service or, with an S3 store, straight to the ' +
      'store. The store answers without the envelope.',
  },
);

const TusUploadTarget = Type.Object(
  {
    protocol: Type.Literal('tus'),
    method: Type.Enum(['POST', 'PATCH'], {
      description: '`POST` creates the upload at `url`; `PATCH` sends bytes to the upload at `url`.',
    }),
    ...target,
    fields: Type.Record(Type.String(), Type.String(), { description: 'Upload-Metadata, in plain text.' }),
    chunk_size_bytes: Type.Optional(
      Type.Integer({
        description:
          'Recommended bytes per `PATCH`, for the option `chunkSize` of a client. Absent: any size, one ' +
          'request for the whole file included.',
      }),
    ),
    chunk_size_multiple_bytes: Type.Optional(
      Type.Integer({
        description: 'Every `PATCH` but the last must be a multiple of this. Absent: any number of bytes.',
      }),
    ),
    chunk_size_min_bytes: Type.Optional(
      Type.Integer({ description: 'Every `PATCH` but the last has at least this many bytes.' }),
    ),
    chunk_size_max_bytes: Type.Optional(
      Type.Integer({ description: 'A `PATCH` has at most this many bytes.' }),
    ),
  },
  { $id: 'TusUploadTarget', description: 'Upload with a tus 1.0.0 client.' },
);

const MultipartUploadTarget = Type.Object(
  {
    protocol: Type.Literal('s3-multipart'),
    method: Type.Literal('POST', { description: 'Creates the upload at `url`.' }),
    ...target,
    part_size_bytes: Type.Integer({ description: 'Size of every part but the last.' }),
    s3_url: Type.String({
      description:
        'For clients that speak the XML of S3, such as Uppy: POST creates an upload. With `&uploadId=` ' +
        'POST completes it, GET lists its parts, DELETE aborts it.',
    }),
  },
  {
    $id: 'MultipartUploadTarget',
    description:
      'Send the file in parts, each straight to the S3 store: create the upload, ask for the signed URL of ' +
      'each part, complete the upload.',
  },
);

const FormUploadTarget = Type.Object(
  {
    protocol: Type.Literal('form'),
    method: Type.Literal('POST'),
    ...target,
    fields: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: 'Form fields to send before the file.' }),
    ),
  },
  {
    $id: 'FormUploadTarget',
    description: 'Send one multipart/form-data request with the file in the field `file`.',
  },
);

export const UploadTarget = Type.Union(
  [PutUploadTarget, TusUploadTarget, MultipartUploadTarget, FormUploadTarget],
  { $id: 'UploadTarget', discriminator: { propertyName: 'protocol' } },
);
export type UploadTarget = Static<typeof UploadTarget>;
