// SQL queries for clips that are not cut yet: which run cuts them.
import type { Queries } from '../../platform/postgres/database.ts';
import { sql } from '../../platform/postgres/sql.ts';
import { AWAITS_SERVICE } from '../byte-conditions.sql.ts';

export const insertClip = (db: Queries, assetId: string) =>
  db.one(sql('insert clip')`insert into clips (asset_id) values (${assetId})`);

/** The ids of the attempt and of the upload that the next run stores. */
type ClipClaim = { readonly assetId: string; readonly attempt: number; readonly uploadId: string };

/** Starts the next run and returns the upload of the previous one; no row if the clip waits no longer. */
export const claimClip = (db: Queries, { assetId, attempt, uploadId }: ClipClaim) =>
  db.one(sql('claim clip', { runs: 'int4', previous_upload_id: 'uuid?' })`
    with seen as (select asset_id, upload_id from clips where asset_id = ${assetId} for update)
    update clips
       set attempt = ${attempt}::int,
           runs = case when attempt = ${attempt}::int then runs + 1 else 1 end,
           upload_id = ${uploadId}
      from seen where clips.asset_id = seen.asset_id
    returning runs, seen.upload_id as previous_upload_id`);

/** Clips that wait to be cut, by id. */
export const listAwaitingClips = (db: Queries, afterId: string | null, limit: number) =>
  db.all(sql('awaiting clips', { id: 'uuid', attempt: 'int4' })`
    select id, assets.attempt from clips join assets on id = asset_id
     where (${afterId}::uuid is null or asset_id > ${afterId}) and ${AWAITS_SERVICE}
     order by asset_id limit ${limit}`);

/** A row until the clip is cut or deleted. */
export const findClip = (db: Queries, assetId: string) =>
  db.one(sql('find clip', { asset_id: 'uuid' })`
    select asset_id from clips where asset_id = ${assetId}`);

/** A row if the timeline says already that the attempt waits for space. */
export const findSpaceWait = (
  db: Queries,
  { id, attempt }: { readonly id: string; readonly attempt: number },
) =>
  db.one(sql('find space wait', { id: 'uuid' })`
    select id from events
     where asset_id = ${id} and type = 'asset.checked' and data ->> 'reason' = 'scratch_disk_full'
       and (data ->> 'attempt')::int = ${attempt}
     limit 1`);

/** Takes a run out of the count; nothing if a later run has started. */
export const uncountClipRun = (db: Queries, { assetId, uploadId }: Omit<ClipClaim, 'attempt'>) =>
  db.one(sql('uncount clip run')`
    update clips set runs = runs - 1 where asset_id = ${assetId} and upload_id = ${uploadId}`);

/**
 * A row while the run may store the clip: no later run has started, and the asset waits for its bytes.
 * `is_source_deleted`: the video that it is cut from is in the trash or purged.
 */
export const findCurrentClip = (db: Queries, { assetId, attempt, uploadId }: ClipClaim) =>
  db.one(sql('current clip', { is_source_deleted: 'bool' })`
    select not exists (
             select from assets as source
              where source.id = (assets.clip_of ->> 'id')::uuid and source.deleted_at is null
           ) as is_source_deleted
      from assets join clips on asset_id = assets.id
     where assets.id = ${assetId} and assets.attempt = ${attempt} and clips.upload_id = ${uploadId}
       and ${AWAITS_SERVICE}`);
