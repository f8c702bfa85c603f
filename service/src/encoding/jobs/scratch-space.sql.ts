// SQL queries for encodes that wait for disk space.
import type { Queries } from '../../platform/postgres/database.ts';
import { sql } from '../../platform/postgres/sql.ts';

type EncodeWait = {
  readonly assetId: string;
  readonly attempt: number;
  readonly worker: string;
  readonly neededBytes: number;
  readonly freeBytes: number;
};

/** `waited_ms`: since the attempt waits, or last did any work. */
export const recordEncodeWait = (
  db: Queries,
  { assetId, attempt, worker, neededBytes, freeBytes }: EncodeWait,
) =>
  db.one(sql('record encode wait', { is_new: 'bool', waited_ms: 'int8' })`
    with earlier as (select attempt from encode_waits where asset_id = ${assetId})
    insert into encode_waits as wait (asset_id, attempt, worker, needed_bytes, free_bytes)
    values (${assetId}, ${attempt}, ${worker}, ${neededBytes}, ${freeBytes})
    on conflict (asset_id) do update
       set attempt = excluded.attempt, worker = excluded.worker, needed_bytes = excluded.needed_bytes,
           free_bytes = excluded.free_bytes, checked_at = now(),
           since = case when wait.attempt = excluded.attempt then wait.since else now() end
    returning not exists (select 1 from earlier where earlier.attempt = wait.attempt) as is_new,
              (extract(epoch from now() - wait.since) * 1000)::bigint as waited_ms`);

/** The work runs for now. The row stays until it ends, so that the next wait of the attempt is no new one. */
export const pauseEncodeWait = (db: Queries, assetId: string) =>
  db.all(sql('pause encode wait')`
    update encode_waits set since = now(), checked_at = 'epoch' where asset_id = ${assetId}`);

export const deleteEncodeWait = (db: Queries, assetId: string) =>
  db.all(sql('delete encode wait')`delete from encode_waits where asset_id = ${assetId}`);
