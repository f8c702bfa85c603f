// Finds assets of owners with the same stored bytes.
import type { Queries } from '../platform/postgres/database.ts';
import { sql } from '../platform/postgres/sql.ts';

/** The stored bytes of an asset. */
export type OwnedBytes = { readonly id: string; readonly owner: string; readonly sha256: string };

/** The earliest other asset of each owner with these bytes. Rejected bytes are not stored. */
export async function findSameBytes(
  db: Queries,
  stored: readonly OwnedBytes[],
): Promise<(string | undefined)[]> {
  const rows = await db.all(sql('find same bytes', { id: 'uuid', position: 'int8' })`
    select found.id, stored.position
      from unnest(${stored.map(({ id }) => id)}::uuid[],
                  ${stored.map(({ owner }) => owner)}::text[],
                  ${stored.map(({ sha256 }) => sha256)}::text[])
           with ordinality as stored (id, owner, sha256, position)
      join lateral (select id from assets
                     where owner_user_id = stored.owner and checksum_sha256 = stored.sha256
                       and uploaded_at is not null and deleted_at is null and id <> stored.id
                     order by id limit 1) as found on true`);
  const byPosition = new Map(rows.map(({ id, position }) => [position, id]));
  return stored.map((_bytes, index) => byPosition.get(index + 1));
}
