// SQL queries for the runs of an encoding attempt: the current run, its worker and its published files.
import type { Queries } from '../../platform/postgres/database.ts';
import { sql } from '../../platform/postgres/sql.ts';

type RunKey = { readonly assetId: string; readonly attempt: number; readonly try: number };

/** Starts the next run if the attempt is still open. Earlier runs can no longer publish. */
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

/** True while the run may publish: no later run has started, and the asset is neither deleted nor cancelled. */
export const findCurrentRun = (db: Queries, run: RunKey) =>
  db.one(sql('find current run', { encode_try: 'int4' })`
    select encode_try from assets
     where id = ${run.assetId} and attempt = ${run.attempt} and encode_try = ${run.try} and stream_status = 'processing' and deleted_at is null`);

/** Removes the run's worker; does nothing when a later run has started. */
export const deleteRun = (db: Queries, run: RunKey) =>
  db.one(sql('delete run')`
    delete from encode_runs where asset_id = ${run.assetId} and attempt = ${run.attempt} and try = ${run.try}`);

/** Publishes the files of the current run and returns the requested poster; no row when the run was superseded or the asset is deleted. */
export const markEncoded = (db: Queries, run: RunKey) =>
  db.one(sql('mark encoded', { poster_time_ms: 'int8?' })`
    update assets set encoded_try = encode_try, revision = revision + 1
     where id = ${run.assetId} and attempt = ${run.attempt} and encode_try = ${run.try} and encoded_try = 0
       and stream_status = 'processing' and deleted_at is null
    returning poster_time_ms`);

/** Excludes an interrupted run from the count; does nothing when a later run has started. */
export const uncountRun = (db: Queries, run: RunKey) =>
  db.one(sql('uncount run')`
    update assets set encode_try = encode_try - 1, revision = revision + 1
     where id = ${run.assetId} and attempt = ${run.attempt} and encode_try = ${run.try} and encoded_try = 0`);
