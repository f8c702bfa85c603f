// The statement that gives assets their bytes by uploads that no request held. It changes a few columns, so
// it takes PostgreSQL less time than `update assets`.
import type { Asset } from '../assets/asset.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { fragment, literals, sql } from '../platform/postgres/sql.ts';
import { WRITER_PROTOCOLS } from '../tables-rows.ts';
import { uuidV7 } from '../platform/values/uuid-v7.ts';
import type { PendingWrite } from './decisions/change.ts';

/**
 * Points assets to their objects, and to the owner's earliest other asset with the same bytes; records
 * uploads and events. The result is undefined if the revision differs, or if another request is writing.
 * Locks rows in the order of their ids, as `updateAssets` does. Duplicates: see related-assets.sql.ts.
 */
export async function finishUnheldUploads(
  db: Queries,
  writes: readonly PendingWrite[],
): Promise<(Asset | undefined)[]> {
  const rows = await db.all(finishStatement(writes));
  const byId = new Map(rows.map((row) => [row.id, row]));
  return writes.map(({ seen, decision: { set }, now }) => {
    const row = byId.get(seen.id);
    if (!row) return undefined;
    const times = { uploaded_at: now, updated_at: now };
    return { ...seen, ...set, ...times, duplicate_of: row.duplicate_of, revision: row.revision };
  });
}

const WRITERS = literals(WRITER_PROTOCOLS);

/** See related-assets.sql.ts. */
const SAME_BYTES = fragment`
  select same.id from assets as same
   where hashtextextended(same.owner_user_id || ' ' || same.checksum_sha256, 0)
         between hashtextextended(assets.owner_user_id || ' ' || sha256, 0)
             and hashtextextended(assets.owner_user_id || ' ' || sha256, 0)
     and same.owner_user_id || ' ' || same.checksum_sha256 = assets.owner_user_id || ' ' || sha256
     and same.uploaded_at is not null and same.deleted_at is null and same.id <> assets.id
   order by hashtextextended(same.owner_user_id || ' ' || same.checksum_sha256, 0), same.id limit 1`;

const FINISHED = { id: 'uuid', revision: 'int4', duplicate_of: 'uuid?', is_notified: 'bool' } as const;

const finishStatement = (writes: readonly PendingWrite[]) => {
  const records = writes.map(({ decision }) => decision.recordsUnlessHeld);
  const sets = writes.map(({ decision }) => decision.set);
  const events = writes.map(({ decision }) => decision.events[0]);
  return sql('finish unheld uploads', FINISHED)`
    with pending as materialized (
      select * from unnest(${writes.map(({ seen }) => seen.id)}::uuid[],
                           ${writes.map(({ seen }) => seen.revision)}::int[],
                           ${records.map((record) => record?.id)}::uuid[],
                           ${records.map((record) => record?.protocol)}::text[],
                           ${sets.map((set) => set.size_bytes)}::int8[],
                           ${sets.map((set) => set.checksum_sha256)}::text[],
                           ${sets.map((set) => set.upload_expires_at)}::timestamptz[],
                           ${writes.map(({ now }) => now)}::timestamptz[],
                           ${writes.map(() => uuidV7())}::uuid[],
                           ${events.map((event) => event?.type)}::text[],
                           ${events.map((event) => JSON.stringify(event?.data))}::jsonb[],
                           ${writes.map(({ traceparent }) => traceparent)}::text[])
                 as pending (id, seen, upload, protocol, size_bytes, sha256, upload_end, now,
                             event_id, event_type, event_data, traceparent)),
    locked as materialized (
      select id, revision from assets
       where id = any(array(select id from pending)) order by id for no key update),
    updated as (
      update assets
         set size_bytes = pending.size_bytes, checksum_sha256 = sha256, uploaded_at = now,
             original_upload = upload, upload_expires_at = upload_end, updated_at = now,
             revision = assets.revision + 1,
             duplicate_of = (${SAME_BYTES})
        from pending join locked on locked.id = pending.id and locked.revision = seen
       where assets.id = pending.id and assets.revision = seen
         and not exists (
           select from uploads
            where asset_id = assets.id and uploads.attempt = assets.attempt
              and uploads.protocol in (${WRITERS}) and finished_at is null)
      returning assets.id, assets.owner_user_id, assets.attempt, assets.revision, assets.duplicate_of),
    finished as (
      insert into uploads (id, asset_id, owner_user_id, attempt, protocol, size_bytes, bytes_received,
                           created_at, expires_at, finished_at)
      select upload, id, owner_user_id, attempt, protocol, size_bytes, size_bytes, now, upload_end, now
        from updated join pending using (id)),
    recorded as (
      insert into events (id, asset_id, owner_user_id, type, data, created_at, revision, traceparent)
      select event_id, id, owner_user_id, event_type, event_data, now, revision, traceparent
        from updated join pending using (id))
    select id, revision, duplicate_of, pg_notify('mediary_events', id::text) is not null as is_notified
      from updated`;
};
