// The encoder's runs within an attempt: who is the latest, and whose files are whole.
import type { Queries } from '../platform/postgres/database.ts';
import { sql } from '../platform/postgres/sql.ts';

/** Begins the next run, if the attempt still wants one; earlier runs lose their right to publish. */
export const beginRun = (db: Queries, assetId: string, attempt: number) =>
  db.one(sql('begin run', {
    encode_try: 'int4',
    mime_type: 'text',
    original_upload: 'uuid?',
    poster_time_ms: 'int8?',
  })`
    update assets set encode_try = encode_try + 1, revision = revision + 1
     where id = ${assetId} and attempt = ${attempt} and stream_status = 'processing' and encoded_try = 0 and deleted_at is null
    returning encode_try, mime_type, original_upload, poster_time_ms`);

/** Marks the latest run's files as whole, and says which poster is wanted by now; nothing where a later run began, or the asset is gone. */
export const markEncoded = (
  db: Queries,
  run: { readonly assetId: string; readonly attempt: number; readonly try: number },
) =>
  db.one(sql('mark encoded', { poster_time_ms: 'int8?' })`
    update assets set encoded_try = encode_try, revision = revision + 1
     where id = ${run.assetId} and attempt = ${run.attempt} and encode_try = ${run.try} and encoded_try = 0 and deleted_at is null
    returning poster_time_ms`);

/** Takes a run that was handed back out of the count; nothing where a later one began. */
export const uncountRun = (
  db: Queries,
  run: { readonly assetId: string; readonly attempt: number; readonly try: number },
) =>
  db.one(sql('uncount run')`
    update assets set encode_try = encode_try - 1, revision = revision + 1
     where id = ${run.assetId} and attempt = ${run.attempt} and encode_try = ${run.try} and encoded_try = 0`);
