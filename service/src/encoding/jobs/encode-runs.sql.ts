// SQL queries for the runs of an encoding attempt: the current run and its worker.
import type { Queries } from '../../platform/postgres/database.ts';
import { sql } from '../../platform/postgres/sql.ts';

type RunKey = { readonly assetId: string; readonly attempt: number; readonly run: number };

/** True while the run may publish: it is the latest, and the asset is neither deleted nor cancelled. */
export const findCurrentRun = (db: Queries, run: RunKey) =>
  db.one(sql('find current run', { encode_run: 'int4' })`
    select encode_run from assets
     where id = ${run.assetId} and attempt = ${run.attempt} and encode_run = ${run.run}
       and stream_status = 'processing' and deleted_at is null`);

/** Removes the run's worker; does nothing when a later one has started. `claim`: 0 for the first phase. */
export const deleteRun = (db: Queries, run: RunKey & { readonly claim: number }) =>
  db.one(sql('delete run')`
    delete from encode_runs
     where asset_id = ${run.assetId} and attempt = ${run.attempt} and run = ${run.run}
       and claim = ${run.claim}`);

const ENCODE = {
  id: 'uuid',
  kind: 'text',
  owner_user_id: 'text',
  attempt: 'int4',
  encode_run: 'int4',
  progress: 'int4',
  filename: 'text',
  duration_ms: 'int8?',
  width: 'int4?',
  height: 'int4?',
  media: 'jsonb?',
  playable_at: 'timestamptz?',
  worker: 'text?',
  run_started_at: 'timestamptz?',
} as const;

/** Assets that still need an encode, with their current run. */
export const findEncodes = (db: Queries, assetIds: readonly string[]) =>
  db.all(sql('find encodes', ENCODE)`
    select assets.id, kind, owner_user_id, assets.attempt, encode_run, progress, filename, duration_ms,
           width, height, media, playable_at, run.worker, run.started_at as run_started_at
      from assets
      left join encode_runs as run
        on run.asset_id = assets.id and run.attempt = assets.attempt and run.run = assets.encode_run
     where assets.id = any(${assetIds}::uuid[])
       and stream_status = 'processing' and encoded_run = 0 and deleted_at is null`);

/** For later estimates: how long the encode took since it was estimated. An earlier attempt may play. */
export const recordEncodeEnd = (db: Queries, { assetId, attempt }: Pick<RunKey, 'assetId' | 'attempt'>) =>
  db.one(sql('record encode end')`
    update encode_estimates as estimate
       set ended_at = now(), ready_ms = (extract(epoch from now() - made_at) * 1000)::bigint,
           playable_ms = case when coalesce(playable_at, now()) > made_at
             then (extract(epoch from coalesce(playable_at, now()) - made_at) * 1000)::bigint end
      from assets
     where estimate.asset_id = ${assetId} and estimate.attempt = ${attempt} and ended_at is null
       and assets.id = estimate.asset_id`);
