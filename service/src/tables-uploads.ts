// The columns of the table of uploads as data.

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
