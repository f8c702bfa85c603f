// SQL queries for the sources of imports: where the file is, and which run downloads it.
import type { Queries } from '../../platform/postgres/database.ts';
import { sql } from '../../platform/postgres/sql.ts';
import { AWAITS_SERVICE } from '../byte-conditions.sql.ts';

type NewImport = {
  readonly assetId: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly expiresAt: Date;
  /** Of an adoption: whether its source is deleted once the asset has it. */
  readonly deletesSource?: boolean | undefined;
};

export const insertImport = (db: Queries, { deletesSource = false, ...row }: NewImport) =>
  db.one(sql('insert import')`
    insert into imports (asset_id, url, headers, expires_at, deletes_source)
    values (${row.assetId}, ${row.url}, ${JSON.stringify(row.headers)}::jsonb, ${row.expiresAt},
            ${deletesSource})`);

/** The ids of the attempt and of the upload that the next run stores. */
type ImportClaim = { readonly assetId: string; readonly attempt: number; readonly uploadId: string };

/**
 * Starts the next run and returns the upload of the previous one; no row if the source is not stored any
 * more.
 */
export const claimImport = (db: Queries, { assetId, attempt, uploadId }: ImportClaim) =>
  db.one(sql('claim import', CLAIMED)`
    with seen as (select asset_id, upload_id from imports where asset_id = ${assetId} for update)
    update imports
       set attempt = ${attempt}::int,
           runs = case when attempt = ${attempt}::int then runs + 1 else 1 end,
           transfer = case when attempt = ${attempt}::int then transfer end,
           partial = case when attempt = ${attempt}::int then partial end,
           held_ms = case when attempt = ${attempt}::int then held_ms else 0 end,
           progress_bytes = case when attempt = ${attempt}::int then progress_bytes else 0 end,
           upload_id = ${uploadId}
      from seen where imports.asset_id = seen.asset_id
    returning url, headers, deletes_source, runs, transfer, partial, held_ms,
              seen.upload_id as previous_upload_id`);

const CLAIMED = {
  url: 'text',
  headers: 'jsonb',
  deletes_source: 'bool',
  runs: 'int4',
  transfer: 'jsonb?',
  partial: 'jsonb?',
  held_ms: 'int8',
  previous_upload_id: 'uuid?',
} as const;

/** A row while the run may store the file: no later run has started, and the asset waits for its bytes. */
export const findCurrentRun = (db: Queries, { assetId, attempt, uploadId }: ImportClaim) =>
  db.one(sql('current import', { id: 'uuid' })`
    select id from assets join imports on asset_id = id
     where id = ${assetId} and assets.attempt = ${attempt} and upload_id = ${uploadId}
       and ${AWAITS_SERVICE}`);

/** Imports and adoptions that wait for their bytes, by id; `url`: of their source. */
export const listAwaitingImports = (db: Queries, afterId: string | null, limit: number) =>
  db.all(sql('awaiting imports', { id: 'uuid', attempt: 'int4', url: 'text' })`
    select id, assets.attempt, url from imports join assets on id = asset_id
     where (${afterId}::uuid is null or asset_id > ${afterId}) and ${AWAITS_SERVICE}
     order by asset_id limit ${limit}`);

/** A row while the source of an import is stored. */
export const findImport = (db: Queries, assetId: string) =>
  db.one(sql('find import', { asset_id: 'uuid' })`
    select asset_id from imports where asset_id = ${assetId}`);

/** The run of an import that may change its row. */
type RunRef = Pick<ImportClaim, 'assetId' | 'uploadId'>;

/** Records the upload at a hosted provider; nothing if a later run has started. */
export const recordTransfer = (db: Queries, { assetId, uploadId }: RunRef, transfer: object) =>
  db.one(sql('record transfer')`
    update imports set transfer = ${JSON.stringify(transfer)}::jsonb
     where asset_id = ${assetId} and upload_id = ${uploadId}`);

/** Records the upload that holds the bytes so far; nothing if a later run has started. */
export const recordPartial = (db: Queries, { assetId, uploadId }: RunRef, partial: object) =>
  db.one(sql('record partial import')`
    update imports set partial = ${JSON.stringify(partial)}::jsonb
     where asset_id = ${assetId} and upload_id = ${uploadId}`);

/** The upload that holds the bytes of an import so far. */
export const findPartialUpload = (db: Queries, assetId: string) =>
  db.one(sql('find partial upload', { id: 'uuid' })`
    select (partial ->> 'uploadId')::uuid as id from imports
     where asset_id = ${assetId} and partial is not null`);

type HeldRun = RunRef & { readonly heldMs: number; readonly isCounted: boolean };

/** Records a run that gives its slot back; no row if a later run has started. */
export const recordHeldRun = (db: Queries, { assetId, uploadId, heldMs, isCounted }: HeldRun) =>
  db.one(sql('record held run', { asset_id: 'uuid' })`
    update imports set held_ms = held_ms + ${heldMs}::int8, runs = runs - ${isCounted ? 0 : 1}::int4
     where asset_id = ${assetId} and upload_id = ${uploadId}
    returning asset_id`);

/** A row if these are more bytes than the attempt has shown, and no later run has started. */
export const raiseProgress = (db: Queries, { assetId, uploadId }: RunRef, bytes: number) =>
  db.one(sql('raise import progress', { asset_id: 'uuid' })`
    update imports set progress_bytes = ${bytes}
     where asset_id = ${assetId} and upload_id = ${uploadId} and progress_bytes < ${bytes}
    returning asset_id`);

/** Keeps the source at least until a time; no row if it is not stored or has expired. */
export const extendImport = (db: Queries, assetId: string, until: Date) =>
  db.one(sql('extend import', { url: 'text' })`
    update imports set expires_at = greatest(expires_at, ${until})
     where asset_id = ${assetId} and expires_at > now()
    returning url`);

export const deleteImport = (db: Queries, assetId: string) =>
  db.one(sql('delete import')`delete from imports where asset_id = ${assetId}`);

/** Deletes expired sources, except of imports that wait or run. */
export const deleteExpiredImports = (db: Queries) =>
  db.one(sql('delete expired imports')`
    delete from imports where expires_at < now()
       and not exists (select from assets where id = asset_id and ${AWAITS_SERVICE})`);
