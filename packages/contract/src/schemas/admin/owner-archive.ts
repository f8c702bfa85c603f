// The JSON files in the archive of an owner, which an import validates.
import { type Static, Type } from 'typebox';
import { CAPTION_KINDS, EVENT_SOURCES, EVENT_TYPES, VISIBILITIES } from '../../enums.ts';
import { ClipSource } from '../assets/clip-source.ts';
import { CreateCollectionRequest, MAX_COLLECTION_ASSETS } from '../collections.ts';
import { AssetId, nullable, Timestamp } from '../common.ts';
import { CreateUploadRequest } from '../uploads.ts';

/** Numbers of versions and attempts leave room for later ones. */
const Count = Type.Integer({ minimum: 1, maximum: 2 ** 30 });
const Sha256 = Type.String({ pattern: '^[0-9a-fA-F]{64}$' });
const MAX_POSTER_MS = 30 * 86_400_000;

const ArchivedCaption = Type.Object({
  path: Type.String(),
  language: Type.String(),
  label: Type.String({ maxLength: 100 }),
  kind: Type.Enum([...CAPTION_KINDS]),
  is_default: Type.Boolean(),
  is_embedded: Type.Boolean(),
  updated_at: Timestamp,
});

/** `assets/<id>/asset.json`: the members that an import reads. */
export const ArchivedAsset = Type.Object({
  id: AssetId,
  owner_user_id: Type.String(),
  ...Type.Pick(CreateUploadRequest, [
    'filename',
    'content_type',
    'mime_type',
    'external_id',
    'title',
    'tags',
    'metadata',
    'focal_point',
    'access',
    'chapters',
    'expires_at',
  ]).properties,
  visibility: Type.Enum([...VISIBILITIES]),
  legal_hold: Type.Boolean(),
  provider: nullable(Type.String()),
  poster_time_ms: nullable(Type.Integer({ minimum: 0, maximum: MAX_POSTER_MS })),
  clip_of: nullable(ClipSource),
  version: Count,
  revision: Count,
  attempt: Count,
  playback_version: Count,
  created_at: Timestamp,
  uploaded_at: nullable(Timestamp),
  deleted_at: nullable(Timestamp),
  original: nullable(Type.Object({ path: Type.String(), sha256: Sha256 })),
  captions: Type.Array(ArchivedCaption, { maxItems: 50 }),
});
export type ArchivedAsset = Static<typeof ArchivedAsset>;

const { name, description, visibility } = CreateCollectionRequest.properties;

/** `collections/<id>.json`; `asset_ids` are in their order. */
export const ArchivedCollection = Type.Object({
  id: Type.String({ format: 'uuid' }),
  owner_user_id: Type.String(),
  name,
  description,
  visibility,
  metadata: CreateUploadRequest.properties.metadata,
  created_at: Timestamp,
  asset_ids: Type.Array(AssetId, { maxItems: MAX_COLLECTION_ASSETS }),
});
export type ArchivedCollection = Static<typeof ArchivedCollection>;

/** A timeline renders them as text. */
const Detail = Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]));

const EventData = Type.Object(
  {
    source: Type.Optional(Type.Enum([...EVENT_SOURCES])),
    attempt: Type.Optional(nullable(Count)),
    clip_of: Type.Optional(ClipSource),
    fields: Type.Optional(Type.Array(Type.String())),
    extras: Type.Optional(Type.Array(Type.String())),
    bytes: Detail,
    code: Detail,
    import_host: Detail,
    key_name: Detail,
    next_check_at: Detail,
    progress: Detail,
    provider_code: Detail,
    reason: Detail,
    step: Detail,
    total_bytes: Detail,
    work: Detail,
  },
  { additionalProperties: true },
);

/** A line of `assets/<id>/events-<n>.ndjson`. */
export const ArchivedEvent = Type.Object({
  id: AssetId,
  type: Type.Enum([...EVENT_TYPES]),
  data: Type.Unsafe<Record<string, unknown>>(EventData),
  created_at: Timestamp,
  revision: Count,
});
export type ArchivedEvent = Static<typeof ArchivedEvent>;

/** `manifest.json`, the last file. */
export const ArchiveManifest = Type.Object({
  type: Type.String(),
  owner_user_id: Type.String(),
  assets: Type.Integer({ minimum: 0 }),
  files: Type.Integer({ minimum: 0 }),
  files_sha256: Sha256,
});
export type ArchiveManifest = Static<typeof ArchiveManifest>;
