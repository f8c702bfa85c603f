// Finds assets of an owner by the SHA-256 of their stored bytes, or by the application's own id.
import type { Queries } from '../platform/postgres/database.ts';
import { sql } from '../platform/postgres/sql.ts';

type Wanted = { readonly owner: string; readonly sha256: string; readonly expiresAt: Date | null };

/**
 * The owner's earliest asset with these bytes whose upload is complete and that has not failed. One that
 * expires at another time does not stand in for the upload.
 */
export const findComplete = (db: Queries, { owner, sha256, expiresAt }: Wanted) => {
  const bytes = `${owner} ${sha256}`;
  return db.one(sql('find complete', { id: 'uuid', kind: 'text', provider: 'text?', size_bytes: 'int8?' })`
    select id, kind, provider, size_bytes from assets
     where hashtextextended(owner_user_id || ' ' || checksum_sha256, 0)
           between hashtextextended(${bytes}, 0) and hashtextextended(${bytes}, 0)
       and owner_user_id || ' ' || checksum_sha256 = ${bytes}
       and uploaded_at is not null and deleted_at is null
       and stream_status in ('processing', 'ready') and version_of is null
       and expires_at is not distinct from ${expiresAt}::timestamptz
     order by hashtextextended(owner_user_id || ' ' || checksum_sha256, 0), id limit 1`);
};

/** The living asset of an owner that has the application's own id. */
export const findIdByExternalId = async (
  db: Queries,
  owner: string,
  externalId: string,
): Promise<string | undefined> =>
  (
    await db.one(sql('asset by external id', { id: 'uuid' })`
      select id from assets
       where external_id = ${externalId} and owner_user_id = ${owner} and deleted_at is null`)
  )?.id;
