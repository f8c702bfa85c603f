// The columns of the tables of outbound webhooks, as data.

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
