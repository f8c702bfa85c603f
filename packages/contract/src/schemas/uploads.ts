// Creating and retrying uploads: the requests and their responses.
import { type Static, Type } from 'typebox';
import { VISIBILITIES } from '../enums.ts';
import { Asset, EXAMPLE_NEW_ASSET } from './asset.ts';
import { AssetId, editableFields, nullable, OwnerUserId, ProviderName } from './common.ts';
import { UploadTarget } from './upload-targets.ts';

/** Thirty days: longer than any provider accepts. */
const MAX_DURATION_MS = 30 * 86_400_000;

export const CreateUploadRequest = Type.Object(
  {
    filename: Type.String({
      minLength: 1,
      description: '1–255 characters, not blank, without control characters.',
      examples: ['launch.mp4'],
    }),
    content_type: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Stored as sent. `image…` and `video…` must not contradict `mime_type`.',
      examples: ['video'],
    }),
    mime_type: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'A supported media type; the bytes must match it.',
      examples: ['video/mp4'],
    }),
    size_bytes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'Announced size. An upload of another length is rejected. Without it, `upload` of `edgehost` ' +
          'takes at most 200 MB (`max_bytes`), and `alternatives` has a `tus` target for larger files.',
      }),
    ),
    checksum_sha256: Type.Optional(
      Type.String({
        pattern: '^[0-9a-fA-F]{64}$',
        description: 'Announced SHA-256. Other bytes are rejected.',
      }),
    ),
    duration_ms: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_DURATION_MS,
        description:
          'Duration of the video as the caller knows it: a hint. Providers that reserve storage for an ' +
          'upload (`edgehost`) reserve this much and a small margin, and reject a longer video.',
      }),
    ),
    max_duration_s: Type.Optional(
      Type.Unknown({
        description:
          'Service callers only: the longest video, in seconds, that an upload to a provider that reserves ' +
          'storage may bring. Takes precedence over `duration_ms`. Ignored for users.',
      }),
    ),
    visibility: Type.Optional(Type.Enum([...VISIBILITIES], { description: 'Default `private`.' })),
    provider: Type.Optional(ProviderName),
    provider_video_id: Type.Optional(
      Type.Unknown({
        description:
          'Service callers only: the id of a video that a hosted provider already stores. The response ' +
          'then has no upload target.',
      }),
    ),
    ...editableFields,
    owner_user_id: OwnerUserId,
  },
  {
    $id: 'CreateUploadRequest',
    examples: [
      { filename: 'launch.mp4', content_type: 'video', mime_type: 'video/mp4', size_bytes: 18_412_733 },
    ],
  },
);

export type CreateUploadRequest = Static<typeof CreateUploadRequest>;

export const CreateUploadQuery = Type.Object({
  deduplicate: Type.Optional(
    Type.Boolean({
      description:
        'True: if the owner has an asset with the bytes of `checksum_sha256` that is `processing` or ' +
        '`ready`, the response names that asset and has no upload target; nothing is created.',
    }),
  ),
});

export const OpenUpload = Type.Object(
  {
    asset_id: AssetId,
    asset: Asset,
    upload_url: nullable(Type.String({ description: 'Equal to `upload.url`.' })),
    upload: nullable(UploadTarget),
    alternatives: Type.Array(UploadTarget, { description: 'Other ways to send the same bytes.' }),
    duplicate_of: nullable(
      Type.String({
        format: 'uuid',
        description:
          'Equal to `asset_id` if the asset existed before the request (`deduplicate=true`): there is ' +
          'nothing to upload, and its other members are not changed.',
      }),
    ),
  },
  { $id: 'OpenUpload', description: 'An asset and where to send its bytes.' },
);

export type OpenUpload = Static<typeof OpenUpload>;

export const RetriedAsset = Type.Object(
  {
    ...Asset.properties,
    upload_url: nullable(Type.String({ description: 'Equal to `upload.url`.' })),
    upload: nullable(UploadTarget),
    alternatives: Type.Array(UploadTarget, { description: 'Other ways to send the same bytes.' }),
  },
  {
    $id: 'RetriedAsset',
    description:
      'The asset in its new attempt. `upload` is set if the bytes must be sent again, and null if the ' +
      'stored bytes are used.',
  },
);

const URL = `https://media.example.com/api/v1/uploads/${EXAMPLE_NEW_ASSET.id}?ticket=1795400100.k3x…`;

export const EXAMPLE_OPEN_UPLOAD: OpenUpload = {
  asset_id: EXAMPLE_NEW_ASSET.id,
  asset: EXAMPLE_NEW_ASSET,
  upload_url: URL,
  upload: {
    protocol: 'put',
    method: 'PUT',
    url: URL,
    headers: { 'Content-Type': 'video/mp4' },
    expires_at: '2026-11-23T10:15:00.000Z',
    max_bytes: 18_412_733,
  },
  alternatives: [],
  duplicate_of: null,
};

export const EXAMPLE_RETRIED_ASSET: Static<typeof RetriedAsset> = {
  ...EXAMPLE_NEW_ASSET,
  upload_url: EXAMPLE_OPEN_UPLOAD.upload_url,
  upload: EXAMPLE_OPEN_UPLOAD.upload,
  alternatives: [],
};
