// The columns of every table as data; a test compares them with the migrated database.
import {
  collectionItemRow,
  collectionRow,
  CREDENTIAL_TABLES,
  deliveryRow,
  endpointDeliveryRow,
  uploadRow,
  webhookEndpointRow,
} from './tables-rows.ts';
import { INTERNAL_TABLES } from './tables-internal.ts';

/** One image or video (contract B1). */
export const assetRow = {
  id: 'uuid',
  owner_user_id: 'text',
  kind: 'text',
  filename: 'text',
  content_type: 'text',
  mime_type: 'text',
  visibility: 'text',
  title: 'text?',
  tags: 'text[]',
  metadata: 'jsonb?',
  /** The application's own id; unique among the living assets of the owner. */
  external_id: 'text?',
  /** When the asset is deleted for good; null: never. */
  expires_at: 'timestamptz?',
  /** True: nothing deletes the asset or replaces its bytes. */
  legal_hold: 'bool',
  /** Announced by upload-url; null if not announced. */
  announced_size_bytes: 'int8?',
  announced_sha256: 'text?',
  /** The longest video that the caller announced; null if not announced. */
  max_duration_s: 'int4?',
  /** The size and digest of the stored bytes. */
  size_bytes: 'int8?',
  checksum_sha256: 'text?',
  uploaded_at: 'timestamptz?',
  /** The upload whose object is the original. */
  original_upload: 'uuid?',
  upload_expires_at: 'timestamptz?',
  provider: 'text?',
  provider_video_id: 'text?',
  stream_status: 'text',
  attempt: 'int4',
  progress: 'int4',
  renditions: 'jsonb',
  warnings: 'jsonb',
  failure: 'jsonb?',
  /** The service failed the attempt itself: reports cannot change it. */
  refused: 'bool',
  /** Our renditions, or reported URLs (playback-manifest.ts). */
  playback: 'jsonb?',
  /** Part of every playback token: a higher version invalidates issued tokens. */
  playback_version: 'int4',
  playable_at: 'timestamptz?',
  ready_at: 'timestamptz?',
  width: 'int4?',
  height: 'int4?',
  duration_ms: 'int8?',
  placeholder: 'text?',
  /** What the original of a video contains; null until our own encoder has reported it. */
  media: 'jsonb?',
  /** Time of the frame that the thumbnail shows; null: chosen by the service. */
  poster_time_ms: 'int8?',
  /** The part of an image that crops keep; null: the center. */
  focal_point: 'jsonb?',
  /** Who may play the asset; null: everybody that its visibility allows. */
  access: 'jsonb?',
  /** Of a video, in order; null: those of the file, once they are known. */
  chapters: 'jsonb?',
  /** Number of encode runs started in this attempt, and the last one that stored all files. */
  encode_run: 'int4',
  encoded_run: 'int4',
  /** Runs of this attempt that ended without a result and without a crash. */
  encode_interruptions: 'int4',
  /** The last attempt whose delay was announced. */
  delayed_attempt: 'int4',
  /** The asset whose file this one replaces once it is ready; null for other assets. */
  version_of: 'uuid?',
  /** The file that was replaced last, while it can come back. */
  previous_version: 'jsonb?',
  version: 'int4',
  revision: 'int4',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  deleted_at: 'timestamptz?',
  /** When an asset leaves the trash for good; null if it is not in the trash. */
  purge_at: 'timestamptz?',
  /** The provider's API reported the final state of this attempt. */
  settled: 'bool',
  /** When the reconcile job checks the asset next; null if the service waits for nothing. */
  reconcile_at: 'timestamptz?',
  /** The earlier asset of the owner with the same bytes, when these were stored. */
  duplicate_of: 'uuid?',
  /** The asset that a clip was cut from, and which part of it; null for other assets. */
  clip_of: 'jsonb?',
  /** The captions whose files are stored; null for none. */
  captions: 'jsonb?',
} as const;

/** The columns of a new asset; the others have defaults. */
export const newAssetColumns = pick(assetRow, [
  'id',
  'owner_user_id',
  'kind',
  'filename',
  'content_type',
  'mime_type',
  'visibility',
  'title',
  'tags',
  'metadata',
  'external_id',
  'focal_point',
  'access',
  'chapters',
  'expires_at',
  'announced_size_bytes',
  'announced_sha256',
  'max_duration_s',
  'provider',
  'provider_video_id',
  'upload_expires_at',
  'reconcile_at',
  'attempt',
  'clip_of',
  'version_of',
  'created_at',
]);

/** The columns that callers can see. Lists read only these. */
export const shownColumns = pick(assetRow, [
  'id',
  'owner_user_id',
  'kind',
  'filename',
  'content_type',
  'mime_type',
  'size_bytes',
  'checksum_sha256',
  'duplicate_of',
  'clip_of',
  'version_of',
  'visibility',
  'stream_status',
  'provider',
  'provider_video_id',
  'playback',
  'playable_at',
  'ready_at',
  'progress',
  'renditions',
  'width',
  'height',
  'duration_ms',
  'placeholder',
  'media',
  'poster_time_ms',
  'focal_point',
  'access',
  'chapters',
  'warnings',
  'failure',
  'title',
  'tags',
  'metadata',
  'external_id',
  'expires_at',
  'legal_hold',
  'version',
  'created_at',
  'updated_at',
  'uploaded_at',
  'deleted_at',
]);

/** The columns that serve manifests, segments and images. */
export const playedColumns = pick(assetRow, [
  'id',
  'owner_user_id',
  'kind',
  'visibility',
  'provider',
  'provider_video_id',
  'playback',
  'playback_version',
  'width',
  'height',
  'duration_ms',
  'focal_point',
  'access',
  'chapters',
  'original_upload',
  'expires_at',
  'deleted_at',
  'purge_at',
  'captions',
  'previous_version',
]);

/**
 * The columns that a change may set. The writer itself raises `revision`; the others are fixed at creation.
 */
export const mutableColumns = omit(assetRow, [
  'id',
  'owner_user_id',
  'kind',
  'version_of',
  'created_at',
  'revision',
]);

/** An event of an asset, stored in the transaction of the change (B8). */
export const eventRow = {
  id: 'uuid',
  asset_id: 'uuid',
  owner_user_id: 'text',
  type: 'text',
  data: 'jsonb',
  created_at: 'timestamptz',
  /** The asset's revision after the change. */
  revision: 'int4',
} as const;

export const TABLES = {
  assets: assetRow,
  events: { ...eventRow, transaction_id: 'int8', traceparent: 'text?' },
  deliveries: deliveryRow,
  uploads: uploadRow,
  webhook_endpoints: webhookEndpointRow,
  endpoint_deliveries: endpointDeliveryRow,
  collections: collectionRow,
  collection_items: collectionItemRow,
  ...CREDENTIAL_TABLES,
  ...INTERNAL_TABLES,
} as const;

export function pick<S extends object, const K extends keyof S>(shape: S, names: readonly K[]): Pick<S, K> {
  return Object.fromEntries(names.map((name) => [name, shape[name]])) as Pick<S, K>;
}

function omit<S extends object, const K extends keyof S>(shape: S, names: readonly K[]): Omit<S, K> {
  const omitted = new Set<PropertyKey>(names);
  return Object.fromEntries(Object.entries(shape).filter(([name]) => !omitted.has(name))) as Omit<S, K>;
}
