// Every table's row as data; a test holds this page against the migrated database.

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
  /** What upload-url announced; null where nothing was. */
  announced_size_bytes: 'int8?',
  announced_sha256: 'text?',
  /** What the store holds. */
  size_bytes: 'int8?',
  checksum_sha256: 'text?',
  uploaded_at: 'timestamptz?',
  /** The upload whose object is the original; null where the object has the name of earlier releases. */
  original_upload: 'uuid?',
  upload_expires_at: 'timestamptz?',
  /** Who writes the original now, and until when nobody else may. */
  upload_writer: 'uuid?',
  upload_writer_until: 'timestamptz?',
  provider: 'text?',
  provider_video_id: 'text?',
  stream_status: 'text',
  attempt: 'int4',
  progress: 'int4',
  renditions: 'jsonb',
  warnings: 'jsonb',
  failure: 'jsonb?',
  /** The service itself refused the asset: no report changes that within the attempt. */
  refused: 'bool',
  /** What plays: our renditions or somebody's URLs (playback-manifest.ts). */
  playback: 'jsonb?',
  /** Part of every playback token: raised, it ends those that are out. */
  playback_version: 'int4',
  playable_at: 'timestamptz?',
  completed_at: 'timestamptz?',
  width: 'int4?',
  height: 'int4?',
  duration_ms: 'int8?',
  placeholder: 'text?',
  /** Which picture the thumbnail is to show; null: chosen by the service. */
  poster_time_ms: 'int8?',
  /** Runs of the encoder in this attempt that were begun, and the latest that left whole files. */
  encode_try: 'int4',
  encoded_try: 'int4',
  version: 'int4',
  revision: 'int4',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  deleted_at: 'timestamptz?',
  /** Until when a removed asset can be restored; null for one that is gone for good. */
  purge_at: 'timestamptz?',
  /** The provider itself was asked and said its last word on this attempt. */
  settled: 'bool',
  /** When the sweep looks at what is waited for; null where nothing is. */
  reconcile_at: 'timestamptz?',
} as const;

/** What upload-url decides of a new asset; all else starts at the table's defaults. */
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
  'announced_size_bytes',
  'announced_sha256',
  'provider',
  'provider_video_id',
  'upload_expires_at',
  'reconcile_at',
  'created_at',
]);

/** What callers are shown: lists read nothing else. */
export const shownColumns = pick(assetRow, [
  'id',
  'owner_user_id',
  'kind',
  'filename',
  'content_type',
  'mime_type',
  'size_bytes',
  'checksum_sha256',
  'visibility',
  'stream_status',
  'provider',
  'provider_video_id',
  'playback',
  'playable_at',
  'completed_at',
  'progress',
  'renditions',
  'width',
  'height',
  'duration_ms',
  'placeholder',
  'poster_time_ms',
  'warnings',
  'failure',
  'title',
  'tags',
  'metadata',
  'version',
  'created_at',
  'updated_at',
  'uploaded_at',
  'deleted_at',
]);

/** What players need: manifests, segments and images read nothing else. */
export const playedColumns = pick(assetRow, [
  'id',
  'kind',
  'visibility',
  'provider',
  'provider_video_id',
  'playback',
  'playback_version',
  'width',
  'height',
  'duration_ms',
  'original_upload',
  'deleted_at',
  'purge_at',
]);

/** What reports, completions and the reconcile job may change. */
export const streamStateColumns = pick(assetRow, [
  'stream_status',
  'attempt',
  'progress',
  'renditions',
  'warnings',
  'failure',
  'refused',
  'playback',
  'playable_at',
  'completed_at',
  'width',
  'height',
  'duration_ms',
  'placeholder',
  'encode_try',
  'encoded_try',
  'uploaded_at',
  'settled',
  'reconcile_at',
]);

/** What a change may set: all but what an asset keeps from its creation, and `revision`, which the writer raises. */
export const mutableColumns = omit(assetRow, ['id', 'owner_user_id', 'kind', 'created_at', 'revision']);

/** One thing that happened to an asset, written with the change itself (B8). */
export const eventRow = {
  id: 'uuid',
  asset_id: 'uuid',
  owner_user_id: 'text',
  type: 'text',
  data: 'jsonb',
  created_at: 'timestamptz',
  /** The asset's revision after the change; null for events of earlier releases. */
  revision: 'int4?',
} as const;

/** One verified webhook delivery, as it came (B6). */
export const deliveryRow = {
  id: 'uuid',
  provider: 'text',
  provider_video_id: 'text?',
  asset_id: 'uuid?',
  body: 'bytea',
  headers: 'jsonb',
  processed: 'bool',
  reason: 'text',
  received_at: 'timestamptz',
  /** Signed by our own encoder. */
  is_ours: 'bool',
  /** From its arrival until it was kept. */
  latency_ms: 'int4',
} as const;

/** The worker that encodes an asset now. */
export const encodeRunRow = {
  asset_id: 'uuid',
  attempt: 'int4',
  try: 'int4',
  worker: 'text',
  started_at: 'timestamptz',
} as const;

/** A secret that the service made for itself. */
export const secretRow = { name: 'text', value: 'text', created_at: 'timestamptz' } as const;

/** The first answer to a request with an Idempotency-Key (B4). */
export const idempotencyRow = {
  caller: 'text',
  key: 'text',
  fingerprint: 'text',
  /** Of what the request makes, chosen before it is made. */
  made_id: 'uuid',
  answer: 'jsonb?',
  busy_by: 'uuid?',
  busy_until: 'timestamptz?',
  created_at: 'timestamptz',
} as const;

/** What an owner under a quota uses; triggers keep it. */
export const ownerUsageRow = {
  owner_user_id: 'text',
  assets: 'int8',
  bytes: 'int8',
  pending: 'int8',
  overrides: 'jsonb',
} as const;

/** A token bucket of a rate limit. */
export const rateLimitRow = { key: 'text', full_at: 'timestamptz', granted: 'int4' } as const;

export const TABLES = {
  assets: assetRow,
  events: eventRow,
  deliveries: deliveryRow,
  encode_runs: encodeRunRow,
  secrets: secretRow,
  idempotency_keys: idempotencyRow,
  owner_usage: ownerUsageRow,
  rate_limits: rateLimitRow,
} as const;

export function pick<S extends object, const K extends keyof S>(shape: S, names: readonly K[]): Pick<S, K> {
  return Object.fromEntries(names.map((name) => [name, shape[name]])) as Pick<S, K>;
}

function omit<S extends object, const K extends keyof S>(shape: S, names: readonly K[]): Omit<S, K> {
  const omitted = new Set<PropertyKey>(names);
  return Object.fromEntries(Object.entries(shape).filter(([name]) => !omitted.has(name))) as Omit<S, K>;
}
