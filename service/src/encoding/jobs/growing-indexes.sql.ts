// SQL queries for the indexes of runs that have not ended.
import type { Queries } from '../../platform/postgres/database.ts';
import { sql } from '../../platform/postgres/sql.ts';

type IndexKey = { readonly assetId: string; readonly folder: string };

/** `body` is null where `known` is the stored revision. */
export const findGrowingIndex = (
  db: Queries,
  { assetId, folder, known }: IndexKey & { readonly known: number },
) =>
  db.one(sql('find growing index', { revision: 'int4', body: 'text?' })`
    select revision, case when revision <> ${known}::int then body end as body
      from growing_indexes
     where asset_id = ${assetId} and folder = ${folder}`);

type SavedIndex = IndexKey & { readonly attempt: number; readonly run: number; readonly body: string };

/** Does nothing for a run that may no longer publish. */
export const saveGrowingIndex = (db: Queries, run: SavedIndex) =>
  db.one(sql('save growing index', { folder: 'text' })`
    insert into growing_indexes (asset_id, folder, body)
    select id, ${run.folder}::text, ${run.body}::text
      from assets
     where id = ${run.assetId} and attempt = ${run.attempt} and encode_run = ${run.run}
       and stream_status = 'processing' and deleted_at is null
    on conflict (asset_id, folder)
    do update set body = excluded.body, revision = growing_indexes.revision + 1
    returning folder`);

/** The runs of an asset that have published an index. */
export const findGrowingFolders = (db: Queries, assetId: string) =>
  db.all(sql('find growing folders', { folder: 'text' })`
    select folder from growing_indexes where asset_id = ${assetId}`);

export const deleteGrowingIndexes = (db: Queries, assetId: string, folders: readonly string[] | null) =>
  db.all(sql('delete growing indexes', { folder: 'text' })`
    delete from growing_indexes
     where asset_id = ${assetId} and (${folders}::text[] is null or folder = any(${folders}::text[]))
    returning folder`);
