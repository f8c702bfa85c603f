// Finds assets of an owner by the SHA-256 of their stored bytes.
import type { Asset } from '../assets/asset.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { sql } from '../platform/postgres/sql.ts';

/** The earliest other asset of the owner with these bytes. Rejected bytes are not stored. */
export const findSameBytes = (
  db: Queries,
  { id, owner_user_id: owner }: Pick<Asset, 'id' | 'owner_user_id'>,
  sha256: string,
) =>
  db.one(sql('find same bytes', { id: 'uuid' })`
    select id from assets
     where owner_user_id = ${owner} and checksum_sha256 = ${sha256}
       and uploaded_at is not null and deleted_at is null and id <> ${id}
     order by id limit 1`);

/** The owner's earliest asset with these bytes whose upload is complete and that has not failed. */
export const findComplete = (db: Queries, owner: string, sha256: string) =>
  db.one(sql('find complete', { id: 'uuid', kind: 'text', provider: 'text?', size_bytes: 'int8?' })`
    select id, kind, provider, size_bytes from assets
     where owner_user_id = ${owner} and checksum_sha256 = ${sha256}
       and uploaded_at is not null and deleted_at is null
       and stream_status in ('processing', 'ready')
     order by id limit 1`);
