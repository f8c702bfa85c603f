// SQL queries for the manifests of runs that have not ended.
import type { Queries } from '../../platform/postgres/database.ts';
import { sql } from '../../platform/postgres/sql.ts';

type ManifestKey = { readonly assetId: string; readonly folder: string; readonly name: string };

export const findGrowingManifest = (db: Queries, { assetId, folder, name }: ManifestKey) =>
  db.one(sql('find growing manifest', { body: 'text' })`
    select body from growing_manifests
     where asset_id = ${assetId} and folder = ${folder} and name = ${name}`);

type SavedManifests = {
  readonly assetId: string;
  readonly folder: string;
  readonly attempt: number;
  readonly try: number;
  readonly names: readonly string[];
  readonly bodies: readonly string[];
};

/** Does nothing for a run that may no longer publish. */
export const saveGrowingManifests = (db: Queries, run: SavedManifests) =>
  db.all(sql('save growing manifests', { name: 'text' })`
    insert into growing_manifests (asset_id, folder, name, body)
    select assets.id, ${run.folder}::text, given.name, given.body
      from unnest(${run.names}::text[], ${run.bodies}::text[]) as given (name, body), assets
     where assets.id = ${run.assetId} and attempt = ${run.attempt} and encode_try = ${run.try}
       and stream_status = 'processing' and deleted_at is null
    on conflict (asset_id, folder, name) do update set body = excluded.body
    returning name`);

/** The runs of an asset that have published manifests. */
export const findGrowingFolders = (db: Queries, assetId: string) =>
  db.all(sql('find growing folders', { folder: 'text' })`
    select distinct folder from growing_manifests where asset_id = ${assetId}`);

export const deleteGrowingManifests = (db: Queries, assetId: string, folders: readonly string[] | null) =>
  db.all(sql('delete growing manifests', { name: 'text' })`
    delete from growing_manifests
     where asset_id = ${assetId} and (${folders}::text[] is null or folder = any(${folders}::text[]))
    returning name`);
