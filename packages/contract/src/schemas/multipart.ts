// Uploads in parts. The members that S3 clients know have the names that they know.
import { type Static, Type } from 'typebox';
import { EXAMPLE_NEW_ASSET } from './assets/asset.ts';
import { Timestamp } from './common.ts';

/** The limit of S3. */
const MAX_PARTS = 10_000;
/** Parts that one request can sign. */
const MAX_SIGNED = 1000;

const PartNumber = Type.Integer({ minimum: 1, maximum: MAX_PARTS, description: 'Numbers start at 1.' });
const ETag = Type.String({ minLength: 1, maxLength: 256, description: 'As the store returned it.' });

export const PartSize = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Length of the part. Needed only for the last part of a file of unknown size.',
});

export const PartChecksum = Type.String({
  pattern: '^[0-9a-fA-F]{64}$',
  description: 'SHA-256 of the part; the store refuses other bytes.',
});

export const CreatedMultipart = Type.Object(
  {
    uploadId: Type.String({ description: 'Part of the paths of this upload.' }),
    key: Type.String({ description: 'For clients that expect one; the service does not read it.' }),
    part_size_bytes: Type.Integer({ description: 'Size of every part but the last.' }),
    max_parts: Type.Integer(),
    expires_at: Timestamp,
  },
  { $id: 'CreatedMultipart' },
);

export const SignedPart = Type.Object(
  {
    PartNumber,
    method: Type.Literal('PUT'),
    url: Type.String({ description: 'Absolute URL of the store.' }),
    headers: Type.Record(Type.String(), Type.String(), { description: 'Send them with the part.' }),
    expires: Type.Integer({ description: 'Seconds until `expires_at`.' }),
    expires_at: Timestamp,
  },
  { $id: 'SignedPart' },
);

export const SignPartsRequest = Type.Object(
  {
    parts: Type.Array(
      Type.Object({
        PartNumber,
        Size: Type.Optional(PartSize),
        checksum_sha256: Type.Optional(PartChecksum),
      }),
      { minItems: 1, maxItems: MAX_SIGNED },
    ),
  },
  { $id: 'SignPartsRequest', examples: [{ parts: [{ PartNumber: 1 }, { PartNumber: 2 }] }] },
);

export const SignedParts = Type.Object({ parts: Type.Array(SignedPart) }, { $id: 'SignedParts' });

const StoredPart = Type.Object({ PartNumber, Size: Type.Integer(), ETag }, { $id: 'StoredPart' });

export const MultipartParts = Type.Object({ parts: Type.Array(StoredPart) }, { $id: 'MultipartParts' });

export const CompleteMultipartRequest = Type.Object(
  {
    parts: Type.Optional(
      Type.Array(Type.Object({ PartNumber, ETag }), {
        maxItems: MAX_PARTS,
        description: 'Each `ETag` must be the one that the store has. Default: all parts of the store.',
      }),
    ),
  },
  {
    $id: 'CompleteMultipartRequest',
    examples: [{ parts: [{ PartNumber: 1, ETag: '"5d41402abc4b2a76b9719d911017c592"' }] }],
  },
);

const UPLOAD_ID = '6f1c2a52-8f0e-4d7e-9a41-0a3c4c6f7f10';

export const EXAMPLE_MULTIPART: Static<typeof CreatedMultipart> = {
  uploadId: UPLOAD_ID,
  key: `originals/${EXAMPLE_NEW_ASSET.id}/${UPLOAD_ID}`,
  part_size_bytes: 8_388_608,
  max_parts: 125,
  expires_at: '2026-11-23T10:15:00.000Z',
};

export const EXAMPLE_SIGNED_PART: Static<typeof SignedPart> = {
  PartNumber: 1,
  method: 'PUT',
  url: 'https://s3.example.com/media/originals/019aab7c…?partNumber=1&X-Amz-Signature=9f2c…',
  headers: {},
  expires: 3600,
  expires_at: '2026-11-22T11:15:00.000Z',
};

export const EXAMPLE_PART: Static<typeof StoredPart> = {
  PartNumber: 1,
  Size: 8_388_608,
  ETag: '"5d41402abc4b2a76b9719d911017c592"',
};
