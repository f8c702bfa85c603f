// Finds assets of an owner with the same stored bytes.
import type { Asset } from '../assets/asset.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { sql } from '../platform/postgres/sql.ts';

/**
 * The earliest other asset of the owner with these bytes. Rejected bytes are not stored. With `=` and `order
 * by id`, PostgreSQL walks all assets by their id once a digest is frequent. This expression and order have
 * an index of their own (assets_by_bytes).
 */
export const findSameBytes = (
  db: Queries,
  { id, owner_user_id: owner }: Pick<Asset, 'id' | 'owner_user_id'>,
  sha256: string,
) => {
  const bytes = `${owner} ${sha256}`;
  return db.one(sql('find same bytes', { id: 'uuid' })`
    select id from assets
     where owner_user_id || ' ' || checksum_sha256 between ${bytes} and ${bytes}
       and uploaded_at is not null and deleted_at is null and id <> ${id}
     order by owner_user_id || ' ' || checksum_sha256, id limit 1`);
};
