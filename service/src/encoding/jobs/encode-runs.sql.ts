// Reads which run of an attempt is the current one, and which worker has it.
import type { Queries } from '../../platform/postgres/database.ts';
import { sql } from '../../platform/postgres/sql.ts';

type RunKey = { readonly assetId: string; readonly attempt: number; readonly try: number };

/** Whether the run may still publish: no later run began, and nobody deleted or cancelled the asset. */
export const findCurrentRun = (db: Queries, run: RunKey) =>
  db.one(sql('find current run', { encode_try: 'int4' })`
    select encode_try from assets
     where id = ${run.assetId} and attempt = ${run.attempt} and encode_try = ${run.try} and stream_status = 'processing' and deleted_at is null`);

/** Forgets which worker has the run; nothing where a later one began. */
export const deleteRun = (db: Queries, run: RunKey) =>
  db.one(sql('delete run')`
    delete from encode_runs where asset_id = ${run.assetId} and attempt = ${run.attempt} and try = ${run.try}`);
