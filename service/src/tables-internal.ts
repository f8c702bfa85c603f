// The columns of the tables whose rows callers never see, as data.

import { ENCODE_QUEUE_TABLES } from './tables-rows.ts';

export const INTERNAL_TABLES = {
  /** A living asset that is not ready or waits for a check. Triggers of `assets` write it. */
  unfinished_assets: {
    asset_id: 'uuid',
    owner_user_id: 'text',
    stream_status: 'text',
    provider: 'text?',
    reconcile_at: 'timestamptz?',
    /** Null unless bytes are awaited. */
    upload_expires_at: 'timestamptz?',
    /** Null unless the asset is being processed. */
    processing_since: 'timestamptz?',
  },

  /** The worker of the latest encode run of an asset. */
  encode_runs: {
    asset_id: 'uuid',
    attempt: 'int4',
    run: 'int4',
    worker: 'text',
    started_at: 'timestamptz',
    claim: 'int4',
  },

  /** A part of a long video that any worker encodes. */
  encode_chunks: {
    asset_id: 'uuid',
    attempt: 'int4',
    run: 'int4',
    batch: 'int4',
    number: 'int4',
    spec: 'jsonb',
    state: 'text',
    claims: 'int4',
    worker: 'text?',
    init_digest: 'text?',
    result: 'jsonb?',
  },

  /** An encode run whose video is playable and lacks renditions. */
  encode_checkpoints: {
    asset_id: 'uuid',
    attempt: 'int4',
    run: 'int4',
    checkpoint: 'text',
    claims: 'int4',
    interruptions: 'int4',
    is_storing: 'bool',
  },

  /** The index of an encode run that has not ended. */
  growing_indexes: { asset_id: 'uuid', folder: 'text', revision: 'int4', body: 'text' },

  ...ENCODE_QUEUE_TABLES,

  /** The job of an asset at the operator's own encoder. */
  encoder_jobs: {
    asset_id: 'uuid',
    attempt: 'int4',
    requests: 'int4',
    accepted_at: 'timestamptz',
    deadline: 'timestamptz',
    job_url: 'text?',
  },

  /** Where an import reads its file; deleted when the import ends. */
  imports: {
    asset_id: 'uuid',
    url: 'text',
    /** Header name → value. */
    headers: 'jsonb',
    /** Of an adoption: whether its source is deleted once the asset has it. */
    deletes_source: 'bool',
    attempt: 'int4',
    /** Runs of this attempt, and the upload that the latest one stores. */
    runs: 'int4',
    upload_id: 'uuid?',
    expires_at: 'timestamptz',
    /** The upload at a hosted provider that a later run can continue. */
    transfer: 'jsonb?',
    /** The progress that the timeline has shown. */
    progress_bytes: 'int8',
    /** The upload that holds the bytes so far, and what the server must confirm to continue. */
    partial: 'jsonb?',
    /** How long earlier runs of the attempt held a slot before they gave it back. */
    held_ms: 'int8',
  },

  /** A clip that is not cut yet. */
  clips: {
    asset_id: 'uuid',
    attempt: 'int4',
    /** Runs of this attempt, and the upload that the latest one stores. */
    runs: 'int4',
    upload_id: 'uuid?',
  },

  /** A secret that the service generated. */
  secrets: { name: 'text', value: 'text', created_at: 'timestamptz' },

  /** The first response to a request with an Idempotency-Key (B4). */
  idempotency_keys: {
    caller: 'text',
    key: 'text',
    fingerprint: 'text',
    /** The id for the resource that the request creates. */
    resource_id: 'uuid',
    answer: 'jsonb?',
    leased_by: 'uuid?',
    leased_until: 'timestamptz?',
    created_at: 'timestamptz',
  },

  /** The usage of an owner with a quota; triggers update it. */
  owner_usage: {
    owner_user_id: 'text',
    assets: 'int8',
    bytes: 'int8',
    pending: 'int8',
    overrides: 'jsonb',
  },

  /** The limits of owners without overrides, by the settings of the API process that started last. */
  default_owner_limits: { name: 'text', max_value: 'int8?' },

  /** A process of the service (B9). */
  workers: {
    id: 'uuid',
    host: 'text',
    roles: 'text[]',
    version: 'text',
    providers: 'text[]',
    started_at: 'timestamptz',
    seen_at: 'timestamptz',
    video_encoder: 'text?',
    clock_skew_ms: 'int8',
    scratch_free_bytes: 'int8?',
    encode_slots: 'int4',
    protections: 'jsonb',
    running_jobs: 'jsonb',
    circuits: 'jsonb',
    is_draining: 'bool',
    stopped_at: 'timestamptz?',
  },

  /** What was counted and measured in a minute (B9). */
  samples: { host: 'text', at: 'timestamptz', values: 'jsonb' },

  /** The last event that a consumer of all events has processed. */
  event_cursors: { name: 'text', transaction_id: 'int8', event_id: 'uuid' },

  /** Files of an asset that a CDN has to purge (B5). */
  cdn_purges: {
    asset_id: 'uuid',
    playback_version: 'int4',
    reason: 'text',
    prefix: 'text',
    attempts: 'int4',
    last_error: 'text?',
    created_at: 'timestamptz',
    delivered_at: 'timestamptz?',
  },

  /** Objects without a reference that stay for PURGE_GRACE_DAYS. `key` may be a prefix that ends in `/`. */
  deferred_removals: { asset_id: 'uuid', key: 'text', remove_after: 'timestamptz' },

  /** A token bucket of a rate limit. */
  rate_limits: { key: 'text', full_at: 'timestamptz', granted: 'int4' },

  /** A comparison of the database with the object store and the hosted providers. */
  storage_checks: {
    id: 'uuid',
    options: 'jsonb',
    status: 'text',
    stage: 'text',
    /** Where the stage continues. */
    position: 'text',
    /** Raised by each worker that takes the check over. */
    run: 'int4',
    counts: 'jsonb',
    error: 'text?',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
    finished_at: 'timestamptz?',
  },
  storage_findings: {
    check_id: 'uuid',
    number: 'int8',
    kind: 'text',
    repair: 'text',
    asset_id: 'uuid?',
    key: 'text?',
    provider: 'text?',
    provider_video_id: 'text?',
    size_bytes: 'int8?',
    expected_size_bytes: 'int8?',
    repaired_at: 'timestamptz?',
    repair_error: 'text?',
  },
  /** The videos that a hosted provider has listed for a check. */
  storage_check_videos: { check_id: 'uuid', provider: 'text', provider_video_id: 'text' },

  /** Removes everything of an owner; the receipt when it is completed. */
  owner_erasures: {
    id: 'uuid',
    owner_user_id: 'text?',
    owner_sha256: 'text',
    phase: 'text',
    leaves_videos: 'bool',
    waiting: 'jsonb',
    requested_at: 'timestamptz',
    completed_at: 'timestamptz?',
    statement: 'text?',
    signature: 'text?',
    public_key: 'text?',
  },

  /** An asset that an erasure removes; the UUID of zeros stands for the owner's other rows. */
  owner_erasure_items: {
    erasure_id: 'uuid',
    asset_id: 'uuid',
    provider: 'text?',
    provider_video_id: 'text?',
    video_removed_at: 'timestamptz?',
    video_error: 'text?',
    uploads_end: 'timestamptz?',
    objects_removed_at: 'timestamptz?',
    /** Kind of thing → number. */
    removed: 'jsonb',
    confirmed_at: 'timestamptz?',
  },
} as const;
