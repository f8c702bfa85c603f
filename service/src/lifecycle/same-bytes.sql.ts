// Finds assets of an owner with the same stored bytes.
import type { Asset } from '../assets/asset.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { sql } from '../platform/postgres/sql.ts';

/**
 * The earliest other asset of the owner with these bytes. Rejected bytes are not stored. With `=` and `order
 * by id`, PostgreSQL walks all assets by their id once a digest is frequent. This expression and order have
 * an index of their own (assets_by_bytes). Different texts may have one hash, so the text is compared too.
 */
export const findSameBytes = (
  db: Queries,
  { id, owner_user_id: owner }: Pick<Asset, 'id' | 'owner_user_id'>,
  sha256: string,
) => {
  const bytes = `${owner} ${sha256}`;
  return db.one(sql('find same bytes', { id: 'uuid' })`
    select id from assets
     where hashtextextended(owner_user_id || ' ' || checksum_sha256, 0)
           between hashtextextended(${bytes}, 0) and hashtextextended(${bytes}, 0)
       and owner_user_id || ' ' || checksum_sha256 = ${bytes}
       and uploaded_at is not null and deleted_at is null and id <> ${id}
     order by hashtextextended(owner_user_id || ' ' || checksum_sha256, 0), id limit 1`);
};
