// The columns of the tables that operations of operators read, as data.

export const OPERATOR_TABLES = {
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
    protections: 'jsonb',
    running_jobs: 'jsonb',
    circuits: 'jsonb',
    is_draining: 'bool',
    stopped_at: 'timestamptz?',
  },

  /** What was counted and measured in a minute (B9). */
  samples: { host: 'text', at: 'timestamptz', values: 'jsonb' },

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
