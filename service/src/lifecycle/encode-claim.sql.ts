// Claims encode runs: one statement decides which worker may publish.
import type { Queries } from '../platform/postgres/database.ts';
import { sql } from '../platform/postgres/sql.ts';

export type EncodeClaim = { readonly assetId: string; readonly attempt: number; readonly worker: string };

/**
 * Starts the next encode run unless the attempt is over, and records its worker. Earlier runs can no longer
 * publish.
 */
export const claimEncode = (db: Queries, { assetId, attempt, worker }: EncodeClaim) =>
  db.one(sql('claim encode', {
    encode_run: 'int4',
    encode_interruptions: 'int4',
    mime_type: 'text',
    original_upload: 'uuid?',
    poster_time_ms: 'int8?',
  })`
    with claimed as (
      update assets set encode_run = encode_run + 1, revision = revision + 1
       where id = ${assetId} and attempt = ${attempt} and stream_status = 'processing' and encoded_run = 0
         and deleted_at is null
      returning id, attempt, encode_run, encode_interruptions, mime_type, original_upload, poster_time_ms),
    recorded as (
      insert into encode_runs (asset_id, attempt, run, worker)
      select id, attempt, encode_run, ${worker}::text from claimed
      on conflict (asset_id) do update
         set attempt = excluded.attempt, run = excluded.run, worker = excluded.worker,
             started_at = excluded.started_at, claim = excluded.claim)
    select encode_run, encode_interruptions, mime_type, original_upload, poster_time_ms from claimed`);
