// The columns of the tables of uploads, outbound webhooks, credentials, and what owners store, as data.

/**
 * A process of the service writes the bytes, of a PUT, a download or a cut: at most one for each attempt of
 * an asset (index `uploads_one_writer`).
 */
export const WRITER_PROTOCOLS = ['put', 'import', 'clip'] as const;

/** An upload of an asset's bytes to the object store (B4). */
export const uploadRow = {
  /** Names the object. */
  id: 'uuid',
  asset_id: 'uuid',
  owner_user_id: 'text',
  attempt: 'int4',
  protocol: 'text',
  /** What the protocol needs to go on. */
  target: 'jsonb?',
  /** `partial` or `final` (tus concatenation); null for whole uploads. */
  concatenation: 'text?',
  /** Of a final upload: its partial uploads. */
  parts: 'jsonb?',
  size_bytes: 'int8?',
  bytes_received: 'int8',
  /** Bytes that the asset announced, which the owner's usage counts already. */
  reserved_bytes: 'int8',
  /** The request that writes now. */
  lease_holder: 'uuid?',
  lease_until: 'timestamptz?',
  /** Another request waits for the lease. */
  is_release_requested: 'bool',
  created_at: 'timestamptz',
  expires_at: 'timestamptz',
  finished_at: 'timestamptz?',
} as const;

/** Where a caller receives events (B8). */
export const webhookEndpointRow = {
  id: 'uuid',
  url: 'text',
  /** Types of the events to send; empty: all. */
  events: 'text[]',
  description: 'text?',
  status: 'text',
  paused_reason: 'text?',
  paused_at: 'timestamptz?',
  /** The first failed attempt after the latest success. */
  failing_since: 'timestamptz?',
  failed_at: 'timestamptz?',
  /** Encrypted (auth/secret-box.ts). */
  secret: 'bytea',
  previous_secret: 'bytea?',
  previous_secret_until: 'timestamptz?',
  /** Only events of later transactions are sent. */
  active_after: 'int8',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
} as const;

/** One event for one webhook endpoint (B8). */
export const endpointDeliveryRow = {
  id: 'uuid',
  /** Orders the events of an asset for an endpoint. */
  seq: 'int8',
  endpoint_id: 'uuid',
  event_id: 'uuid',
  asset_id: 'uuid',
  type: 'text',
  state: 'text',
  /** The next attempt; while one runs, the end of its lease. Null: completed, or behind another event. */
  due_at: 'timestamptz?',
  lease_holder: 'uuid?',
  attempts: 'jsonb',
  created_at: 'timestamptz',
  completed_at: 'timestamptz?',
} as const;

/** A named, ordered list of assets (B11). */
export const collectionRow = {
  id: 'uuid',
  owner_user_id: 'text',
  name: 'text',
  description: 'text?',
  visibility: 'text',
  metadata: 'jsonb?',
  /** Raised when all positions are written again. */
  numbering: 'int4',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
} as const;

export const collectionItemRow = {
  collection_id: 'uuid',
  asset_id: 'uuid',
  position: 'int8',
  added_at: 'timestamptz',
} as const;

/** A verified webhook delivery with its raw body (B6). */
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
  is_own_encoder: 'bool',
  /** From the arrival of the request until it is recorded. */
  latency_ms: 'int4',
} as const;

export const CREDENTIAL_TABLES = {
  /** A token for uploads from a browser (B11). */
  upload_tokens: {
    id: 'uuid',
    owner_user_id: 'text',
    max_uploads: 'int4',
    uploads: 'int4',
    created_at: 'timestamptz',
    expires_at: 'timestamptz',
  },
  upload_token_assets: { asset_id: 'uuid', token_id: 'uuid' },

  /** A session of the console. */
  console_sessions: {
    token_hash: 'text',
    kind: 'text',
    subject: 'text',
    owner_user_id: 'text?',
    service_key_id: 'uuid?',
    key_digest: 'text?',
    created_at: 'timestamptz',
    expires_at: 'timestamptz',
  },
  console_codes: { code_hash: 'text', expires_at: 'timestamptz' },

  /** A named key of a service caller (A4). */
  service_keys: {
    id: 'uuid',
    name: 'text',
    /** SHA-256 in hex. */
    key_hash: 'text',
    key_hint: 'text',
    previous_hash: 'text?',
    previous_expires_at: 'timestamptz?',
    scopes: 'text[]',
    owner_prefixes: 'text[]',
    expires_at: 'timestamptz?',
    last_used_at: 'timestamptz?',
    created_at: 'timestamptz',
    revoked_at: 'timestamptz?',
  },

  /** What an owner stores, as a job counted it. */
  owner_totals: {
    owner_user_id: 'text',
    assets: 'int8',
    bytes: 'int8',
    pending: 'int8',
    counted_at: 'timestamptz',
  },
  /** The latest count of all owners. */
  owner_counts: { is_only: 'bool', started_at: 'timestamptz', ended_at: 'timestamptz' },
} as const;

export const ENCODE_QUEUE_TABLES = {
  /** An encode that waits for space on the disk of a worker. */
  encode_waits: {
    asset_id: 'uuid',
    attempt: 'int4',
    worker: 'text',
    needed_bytes: 'int8',
    free_bytes: 'int8',
    since: 'timestamptz',
    checked_at: 'timestamptz',
  },

  /** How much work lay before an encode when it was first seen, and how long it took. */
  encode_estimates: {
    asset_id: 'uuid',
    attempt: 'int4',
    is_long: 'bool',
    playable_work: 'int8?',
    ready_work: 'int8',
    made_at: 'timestamptz',
    latest_ready_at: 'timestamptz',
    delayed_after: 'timestamptz',
    playable_ms: 'int8?',
    ready_ms: 'int8?',
    ended_at: 'timestamptz?',
  },
} as const;
