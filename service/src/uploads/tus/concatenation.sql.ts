// Queries for partial uploads (tus concatenation).
import type { Asset } from '../../assets/asset.ts';
import type { Queries } from '../../platform/postgres/database.ts';
import { sql } from '../../platform/postgres/sql.ts';

type UploadAttempt = Pick<Asset, 'id' | 'attempt'>;

/** How many partial uploads are open, and the bytes that they announced. */
export const countPartials = (db: Queries, { id, attempt }: UploadAttempt) =>
  db.one(sql('count partial uploads', { open: 'int4', bytes: 'int8' })`
    select count(*)::int4 as open, coalesce(sum(size_bytes), 0)::int8 as bytes from uploads
     where asset_id = ${id} and attempt = ${attempt} and concatenation = 'partial' and finished_at is null`);

type NamedParts = {
  readonly ids: readonly string[];
  readonly now: Date;
  /** They stay until the final upload expires. */
  readonly expiresAt: Date;
};

/** Returns those that are partial uploads of this attempt, in any order. */
export const extendParts = (
  tx: Queries,
  { id, attempt }: UploadAttempt,
  { ids, now, expiresAt }: NamedParts,
) =>
  tx.all(sql('extend partial uploads', { id: 'uuid', size_bytes: 'int8', bytes_received: 'int8' })`
    update uploads set expires_at = greatest(expires_at, ${expiresAt}::timestamptz)
     where id = any(${ids}::uuid[]) and asset_id = ${id} and attempt = ${attempt}
       and concatenation = 'partial' and finished_at is null and expires_at > ${now}
    returning id, size_bytes, bytes_received`);
