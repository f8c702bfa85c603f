// Claims of uploads and encode runs: one statement with the database's clock decides which process may work.
import type { Asset } from '../assets/asset.ts';
import { LEASE_SECONDS } from '../platform/concurrency/lease.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { columns, sql } from '../platform/postgres/sql.ts';
import { assetRow } from '../tables.ts';

const ASSET = columns(assetRow);

/**
 * Claims the upload for one writer; undefined if another writer holds the lease or the upload is closed.
 * Not synced to disk: recording the upload detects a lease that a power failure removed.
 */
export const claimUpload = async (
  db: Queries,
  { id, attempt }: Pick<Asset, 'id' | 'attempt'>,
  writer: string,
) =>
  (await db.one(sql('claim upload', assetRow)`
    update assets
       set upload_writer = ${writer},
           upload_writer_until = now() + make_interval(secs => ${LEASE_SECONDS}),
           revision = revision + 1
     where id = ${id} and attempt = ${attempt}
       and deleted_at is null and uploaded_at is null and stream_status = 'pending_upload'
       and (upload_writer is null or upload_writer_until < now())
       and set_config('synchronous_commit', 'off', true) = 'off'
    returning ${ASSET}`)) as Asset | undefined;

/** Extends the lease. The revision stays, so that other updates of the asset need not read it again. */
export const renewUpload = (db: Queries, id: string, writer: string) =>
  db.one(sql('renew upload')`
    update assets
       set upload_writer_until = now() + make_interval(secs => ${LEASE_SECONDS})
     where id = ${id} and upload_writer = ${writer}`);

/** Ends the lease; returns a row if the upload was not recorded. The new revision prevents recording it. */
export const releaseUpload = (db: Queries, id: string, writer: string) =>
  db.one(sql('release upload', { id: 'uuid' })`
    update assets set upload_writer = null, upload_writer_until = null, revision = revision + 1
     where id = ${id} and upload_writer = ${writer} returning id`);

/** Ends expired leases: their writers cannot record the upload any more, so their objects may be removed. */
export const endExpiredLeases = (db: Queries, ids: readonly string[]) =>
  db.all(sql('end expired leases')`
    update assets set upload_writer = null, upload_writer_until = null, revision = revision + 1
     where id = any(${ids}::uuid[]) and upload_writer_until <= now()`);

export type EncodeClaim = { readonly assetId: string; readonly attempt: number; readonly worker: string };

/** Starts the next encode run unless the attempt is over; records its worker. Earlier runs cannot publish. */
export const claimEncode = (db: Queries, { assetId, attempt, worker }: EncodeClaim) =>
  db.one(sql('claim encode', {
    encode_try: 'int4',
    mime_type: 'text',
    original_upload: 'uuid?',
    poster_time_ms: 'int8?',
  })`
    with claimed as (
      update assets set encode_try = encode_try + 1, revision = revision + 1
       where id = ${assetId} and attempt = ${attempt}
         and stream_status = 'processing' and encoded_try = 0 and deleted_at is null
      returning id, attempt, encode_try, mime_type, original_upload, poster_time_ms),
    recorded as (
      insert into encode_runs (asset_id, attempt, try, worker)
      select id, attempt, encode_try, ${worker}::text from claimed
      on conflict (asset_id) do update
         set attempt = excluded.attempt, try = excluded.try,
             worker = excluded.worker, started_at = excluded.started_at)
    select encode_try, mime_type, original_upload, poster_time_ms from claimed`);
