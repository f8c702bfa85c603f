// Finds assets of an owner by the SHA-256 of their stored bytes.
import type { Queries } from '../platform/postgres/database.ts';
import { sql } from '../platform/postgres/sql.ts';

/** The owner's earliest asset with these bytes whose upload is complete and that has not failed. */
export const findComplete = (db: Queries, owner: string, sha256: string) => {
  const bytes = `${owner} ${sha256}`;
  return db.one(sql('find complete', { id: 'uuid', kind: 'text', provider: 'text?', size_bytes: 'int8?' })`
    select id, kind, provider, size_bytes from assets
     where hashtextextended(owner_user_id || ' ' || checksum_sha256, 0)
           between hashtextextended(${bytes}, 0) and hashtextextended(${bytes}, 0)
       and owner_user_id || ' ' || checksum_sha256 = ${bytes}
       and uploaded_at is not null and deleted_at is null
       and stream_status in ('processing', 'ready')
     order by hashtextextended(owner_user_id || ' ' || checksum_sha256, 0), id limit 1`);
};
