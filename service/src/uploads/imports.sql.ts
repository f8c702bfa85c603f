// SQL queries for the sources of imports: where the file is, and which run downloads it.
import type { Queries } from '../platform/postgres/database.ts';
import { sql } from '../platform/postgres/sql.ts';

export type NewImport = {
  readonly assetId: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly expiresAt: Date;
};

export const insertImport = (db: Queries, { assetId, url, headers, expiresAt }: NewImport) =>
  db.one(sql('insert import')`
    insert into imports (asset_id, url, headers, expires_at)
    values (${assetId}, ${url}, ${JSON.stringify(headers)}::jsonb, ${expiresAt})`);

/** The ids of the attempt and of the upload that the next run stores. */
export type ImportClaim = { readonly assetId: string; readonly attempt: number; readonly uploadId: string };

/** Starts the next run and returns the upload of the previous one; no row if the source is not stored any more. */
export const claimImport = (db: Queries, { assetId, attempt, uploadId }: ImportClaim) =>
  db.one(sql('claim import', { url: 'text', headers: 'jsonb', runs: 'int4', previous_upload_id: 'uuid?' })`
    with seen as (select asset_id, upload_id from imports where asset_id = ${assetId} for update)
    update imports
       set attempt = ${attempt}::int, runs = case when attempt = ${attempt}::int then runs + 1 else 1 end, upload_id = ${uploadId}
      from seen where imports.asset_id = seen.asset_id
    returning url, headers, runs, seen.upload_id as previous_upload_id`);

/** A row while the run may store the file: no later run has started, and the asset waits for its bytes. */
export const findCurrentRun = (db: Queries, { assetId, attempt, uploadId }: ImportClaim) =>
  db.one(sql('current import', { id: 'uuid' })`
    select id from assets join imports on asset_id = id
     where id = ${assetId} and assets.attempt = ${attempt} and upload_id = ${uploadId}
       and stream_status = 'pending_upload' and deleted_at is null`);

/** Keeps the source at least until a time; no row if it is not stored or has expired. */
export const extendImport = (db: Queries, assetId: string, until: Date) =>
  db.one(sql('extend import', { asset_id: 'uuid' })`
    update imports set expires_at = greatest(expires_at, ${until}) where asset_id = ${assetId} and expires_at > now()
    returning asset_id`);

export const deleteImport = (db: Queries, assetId: string) =>
  db.one(sql('delete import')`delete from imports where asset_id = ${assetId}`);

/** Deletes expired sources, except of imports that wait or run. */
export const deleteExpiredImports = (db: Queries) =>
  db.one(sql('delete expired imports')`
    delete from imports where expires_at < now()
       and not exists (select from assets where id = asset_id and stream_status = 'pending_upload' and deleted_at is null)`);
