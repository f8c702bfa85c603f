// Creating and retrying uploads: the requests and their responses.
import { type Static, Type } from 'typebox';
import { EXISTING_ASSET_RULES, VISIBILITIES } from '../enums.ts';
import { Asset, EXAMPLE_NEW_ASSET } from './assets/asset.ts';
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

/** The asset is a second request away, and most callers need only its id. */
const expand = {
  expand: Type.Optional(Type.Enum(['asset'], { description: '`asset`: the response contains the asset.' })),
};

/** Of requests that create an asset with an `external_id`. */
export const ifExists = {
  if_exists: Type.Optional(
    Type.Enum([...EXISTING_ASSET_RULES], {
      description:
        'If an asset of the owner has the `external_id`: `fail` (default) refuses the request with 409, ' +
        '`return` answers with that asset. Its members are not changed.',
    }),
  ),
};

export const CreateUploadQuery = Type.Object({
  ...ifExists,
  deduplicate: Type.Optional(
    Type.Boolean({
      description:
        'True: an asset of the owner with the bytes of `checksum_sha256` that is `processing` or `ready` ' +
        'is used. The response then names that asset (`is_existing`) and has no upload target; nothing ' +
        'is created.',
    }),
  ),
  ...expand,
});

export const RetryQuery = Type.Object(expand);

export const OpenUpload = Type.Object(
  {
    asset_id: AssetId,
    upload_url: nullable(Type.String({ description: 'Equal to `upload.url`.' })),
    is_existing: Type.Boolean({
      description:
        'True if the asset existed before the request; its other members are not changed. With ' +
        '`deduplicate=true` there is nothing to upload then. With `if_exists=return` there is an upload ' +
        'target while the asset is `pending_upload`. Always true after `retry`.',
    }),
    upload: nullable(UploadTarget),
    alternatives: Type.Array(UploadTarget, { description: 'Other ways to send the same bytes.' }),
    asset: Type.Optional(Asset),
  },
  {
    $id: 'OpenUpload',
    description:
      'Where to send the bytes of an asset. `asset` is present only with `expand=asset`. ' +
      '`upload` is null if the bytes are stored already, or if the ' +
      'service gets them itself.',
  },
);

export type OpenUpload = Static<typeof OpenUpload>;

const URL = `https://media.example.com/api/v1/uploads/${EXAMPLE_NEW_ASSET.id}?ticket=1795400100.k3x…`;

export const EXAMPLE_OPEN_UPLOAD: OpenUpload = {
  asset_id: EXAMPLE_NEW_ASSET.id,
  upload_url: URL,
  is_existing: false,
  upload: {
    protocol: 'put',
    method: 'PUT',
    url: URL,
    headers: { 'Content-Type': 'video/mp4' },
    expires_at: '2026-11-23T10:15:00.000Z',
    max_bytes: 18_412_733,
  },
  alternatives: [],
};

/** A retry that needs the bytes again. */
export const EXAMPLE_RETRY: OpenUpload = { ...EXAMPLE_OPEN_UPLOAD, is_existing: true };
