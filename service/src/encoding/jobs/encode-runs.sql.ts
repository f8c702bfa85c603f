// The encoder's runs within an attempt: who is the latest, which worker it has, and whose files are whole.
import type { Queries } from '../../platform/postgres/database.ts';
import { sql } from '../../platform/postgres/sql.ts';

type RunKey = { readonly assetId: string; readonly attempt: number; readonly try: number };

/** Begins the next run, if the attempt still wants one; earlier runs lose their right to publish. */
export const claimRun = (
  db: Queries,
  { assetId, attempt, worker }: { assetId: string; attempt: number; worker: string },
) =>
  db.one(sql('begin run', {
    encode_try: 'int4',
    mime_type: 'text',
    original_upload: 'uuid?',
    poster_time_ms: 'int8?',
  })`
    with begun as (
      update assets set encode_try = encode_try + 1, revision = revision + 1
       where id = ${assetId} and attempt = ${attempt} and stream_status = 'processing' and encoded_try = 0 and deleted_at is null
      returning id, attempt, encode_try, mime_type, original_upload, poster_time_ms),
    recorded as (
      insert into encode_runs (asset_id, attempt, try, worker)
      select id, attempt, encode_try, ${worker}::text from begun
      on conflict (asset_id) do update
         set attempt = excluded.attempt, try = excluded.try, worker = excluded.worker, started_at = excluded.started_at)
    select encode_try, mime_type, original_upload, poster_time_ms from begun`);

/** Whether the run may still publish: no later run began, and nobody deleted or cancelled the asset. */
export const findCurrentRun = (db: Queries, run: RunKey) =>
  db.one(sql('find current run', { encode_try: 'int4' })`
    select encode_try from assets
     where id = ${run.assetId} and attempt = ${run.attempt} and encode_try = ${run.try} and stream_status = 'processing' and deleted_at is null`);

/** Forgets which worker has the run; nothing where a later one began. */
export const deleteRun = (db: Queries, run: RunKey) =>
  db.one(sql('delete run')`
    delete from encode_runs where asset_id = ${run.assetId} and attempt = ${run.attempt} and try = ${run.try}`);

/** Marks the latest run's files as whole, and says which poster is wanted by now; nothing where a later run began, or the asset is gone. */
export const markEncoded = (db: Queries, run: RunKey) =>
  db.one(sql('mark encoded', { poster_time_ms: 'int8?' })`
    update assets set encoded_try = encode_try, revision = revision + 1
     where id = ${run.assetId} and attempt = ${run.attempt} and encode_try = ${run.try} and encoded_try = 0
       and stream_status = 'processing' and deleted_at is null
    returning poster_time_ms`);

/** Takes a run that was handed back out of the count; nothing where a later one began. */
export const uncountRun = (db: Queries, run: RunKey) =>
  db.one(sql('uncount run')`
    update assets set encode_try = encode_try - 1, revision = revision + 1
     where id = ${run.assetId} and attempt = ${run.attempt} and encode_try = ${run.try} and encoded_try = 0`);
