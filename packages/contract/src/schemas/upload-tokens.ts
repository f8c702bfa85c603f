// Upload tokens: what a back end requests for a browser, and what it gets.
import { type Static, Type } from 'typebox';
import { ASSET_KINDS, VISIBILITIES } from '../enums.ts';
import { nullable, OwnerUserId, Timestamp } from './common.ts';

const DAY_S = 86_400;
const DEFAULT_EXPIRES_IN_S = 3600;

const bounds = {
  kinds: Type.Array(Type.Enum([...ASSET_KINDS]), { minItems: 1, maxItems: ASSET_KINDS.length }),
  mime_types: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { minItems: 1, maxItems: 50 }),
  max_bytes: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  max_uploads: Type.Integer({ minimum: 1, maximum: 10_000 }),
  visibility: Type.Enum([...VISIBILITIES]),
  tags: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 50 }),
} as const;

export const CreateUploadTokenRequest = Type.Object(
  {
    kinds: Type.Optional({
      ...bounds.kinds,
      description: 'Kinds of assets that may be created. Omitted: all.',
    }),
    mime_types: Type.Optional({
      ...bounds.mime_types,
      description: 'Supported media types that may be uploaded. Omitted: all of the service.',
      examples: [['image/jpeg', 'image/png']],
    }),
    max_bytes: Type.Optional({
      ...bounds.max_bytes,
      description: 'Largest file in bytes; each upload must then announce its `size_bytes`.',
      examples: [50_000_000],
    }),
    max_uploads: Type.Optional({
      ...bounds.max_uploads,
      description: 'Number of assets that may be created. Omitted: 1.',
    }),
    visibility: Type.Optional({
      ...bounds.visibility,
      description: 'Visibility of every upload. Omitted: `private`.',
    }),
    tags: Type.Optional({ ...bounds.tags, description: 'Added to the tags of every upload.' }),
    expires_in: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: DAY_S,
        description: `Lifetime of the token in seconds. Omitted: ${DEFAULT_EXPIRES_IN_S}.`,
      }),
    ),
    owner_user_id: OwnerUserId,
  },
  {
    $id: 'CreateUploadTokenRequest',
    examples: [{ owner_user_id: 'user_42', kinds: ['image'], max_bytes: 50_000_000, expires_in: 900 }],
  },
);
export type CreateUploadTokenRequest = Static<typeof CreateUploadTokenRequest>;

export const UploadToken = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    token: Type.String({
      description: 'Shown once. The page sends it as `Authorization: Bearer <token>`.',
    }),
    owner_user_id: Type.String(),
    kinds: nullable(bounds.kinds),
    mime_types: nullable(bounds.mime_types),
    max_bytes: nullable(bounds.max_bytes),
    max_uploads: bounds.max_uploads,
    visibility: bounds.visibility,
    tags: bounds.tags,
    expires_at: Timestamp,
  },
  { $id: 'UploadToken' },
);
export type UploadToken = Static<typeof UploadToken>;

export const EXAMPLE_UPLOAD_TOKEN: UploadToken = {
  id: '019aab7c-4d2e-7c55-9f0e-6d1f2b3c4d5e',
  token: 'mut_EXAMPLE-not-a-token-0123456789abcdefghijklm',
  owner_user_id: 'user_42',
  kinds: ['image'],
  mime_types: null,
  max_bytes: 50_000_000,
  max_uploads: 1,
  visibility: 'private',
  tags: [],
  expires_at: '2026-11-22T10:30:00.000Z',
};
