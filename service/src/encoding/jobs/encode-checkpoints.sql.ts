// SQL queries for playable encodes that wait for their other renditions.
import type { Queries } from '../../platform/postgres/database.ts';
import { sql } from '../../platform/postgres/sql.ts';

type RunKey = { readonly assetId: string; readonly attempt: number; readonly run: number };
type ClaimKey = RunKey & { readonly claim: number };

/** Undefined when the run may no longer publish. */
export const saveCheckpoint = (db: Queries, run: RunKey, checkpoint: string) =>
  db.one(sql('save checkpoint', { owner_user_id: 'text' })`
    with current as (
      select id, attempt, encode_run, owner_user_id from assets
       where id = ${run.assetId} and attempt = ${run.attempt} and encode_run = ${run.run} and encoded_run = 0
         and stream_status = 'processing' and deleted_at is null),
    saved as (
      insert into encode_checkpoints (asset_id, attempt, run, checkpoint)
      select id, attempt, encode_run, ${checkpoint} from current
      on conflict (asset_id) do update
         set attempt = excluded.attempt, run = excluded.run, checkpoint = excluded.checkpoint, claims = 0,
             interruptions = 0, is_storing = false)
    select owner_user_id from current`);

/** Undefined when nobody can continue the run. Records the worker; earlier ones can no longer end the run. */
export const claimCheckpoint = (db: Queries, run: RunKey, worker: string) =>
  db.one(sql('claim checkpoint', {
    checkpoint: 'text',
    claims: 'int4',
    interruptions: 'int4',
    crashes: 'int4',
    mime_type: 'text',
    original_upload: 'uuid?',
    poster_time_ms: 'int8?',
  })`
    with claimed as (
      update encode_checkpoints as saved set claims = claims + 1
        from assets
       where saved.asset_id = ${run.assetId} and saved.attempt = ${run.attempt} and saved.run = ${run.run}
         and not is_storing
         and assets.id = saved.asset_id and assets.attempt = saved.attempt and encode_run = saved.run
         and encoded_run = 0 and stream_status = 'processing' and deleted_at is null
      returning asset_id, saved.attempt, saved.run, checkpoint, claims, interruptions,
                encode_run - 1 - encode_interruptions as crashes, mime_type, original_upload, poster_time_ms),
    recorded as (
      insert into encode_runs (asset_id, attempt, run, worker, claim)
      select asset_id, attempt, run, ${worker}::text, claims from claimed
      on conflict (asset_id) do update
         set attempt = excluded.attempt, run = excluded.run, worker = excluded.worker,
             started_at = excluded.started_at, claim = excluded.claim)
    select checkpoint, claims, interruptions, crashes, mime_type, original_upload, poster_time_ms
      from claimed`);

/** A row while this worker may end the run. */
export const findCurrentClaim = (db: Queries, run: ClaimKey) =>
  db.one(sql('find current claim', { claims: 'int4' })`
    select claims from encode_checkpoints as saved
      join assets on assets.id = saved.asset_id and assets.attempt = saved.attempt and encode_run = saved.run
     where saved.asset_id = ${run.assetId} and saved.attempt = ${run.attempt} and saved.run = ${run.run}
       and claims = ${run.claim} and stream_status = 'processing' and deleted_at is null`);

/** Undefined when another worker continues the run. */
export const startStoring = (db: Queries, run: ClaimKey) =>
  db.one(sql('start storing', { claims: 'int4' })`
    update encode_checkpoints set is_storing = true
     where asset_id = ${run.assetId} and attempt = ${run.attempt} and run = ${run.run}
       and claims = ${run.claim}
    returning claims`);

export const recordInterruption = (db: Queries, run: ClaimKey) =>
  db.all(sql('record interruption')`
    update encode_checkpoints set interruptions = interruptions + 1
     where asset_id = ${run.assetId} and attempt = ${run.attempt} and run = ${run.run}
       and claims = ${run.claim}`);

/** The run of this attempt that can be continued. */
export const findCheckpoint = (db: Queries, assetId: string, attempt: number) =>
  db.one(sql('find checkpoint', { run: 'int4' })`
    select run from encode_checkpoints where asset_id = ${assetId} and attempt = ${attempt}`);

export const deleteCheckpoint = (db: Queries, run: RunKey) =>
  db.one(sql('delete checkpoint', { attempt: 'int4' })`
    delete from encode_checkpoints
     where asset_id = ${run.assetId} and attempt = ${run.attempt} and run = ${run.run}
    returning attempt`);
