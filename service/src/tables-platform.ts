// The columns of the tables of the platform and of quotas.

/** A secret that the service generated. */
export const secretRow = { name: 'text', value: 'text', created_at: 'timestamptz' } as const;

/** The first response to a request with an Idempotency-Key (B4). */
export const idempotencyRow = {
  caller: 'text',
  key: 'text',
  fingerprint: 'text',
  /** The id for the resource that the request creates. */
  made_id: 'uuid',
  answer: 'jsonb?',
  busy_by: 'uuid?',
  busy_until: 'timestamptz?',
  created_at: 'timestamptz',
} as const;

/** The usage of an owner with a quota; triggers update it. */
export const ownerUsageRow = {
  owner_user_id: 'text',
  assets: 'int8',
  bytes: 'int8',
  pending: 'int8',
  overrides: 'jsonb',
} as const;

/** A token bucket of a rate limit. */
export const rateLimitRow = { key: 'text', full_at: 'timestamptz', granted: 'int4' } as const;
