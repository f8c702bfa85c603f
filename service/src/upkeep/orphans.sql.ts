// What the database knows of stored objects: which assets may have which.
import type { Queries } from '../platform/postgres/database.ts';
import { sql } from '../platform/postgres/sql.ts';
import { assetRow } from '../tables.ts';
import type { Holder } from './orphan.ts';

const {
  id,
  refused,
  uploaded_at,
  upload_writer_until,
  deleted_at,
  purge_at,
  stream_status,
  attempt,
  encode_try,
  playback,
} = assetRow;
const holderRow = {
  id,
  refused,
  uploaded_at,
  upload_writer_until,
  deleted_at,
  purge_at,
  stream_status,
  attempt,
  encode_try,
  playback,
} as const;

export const holders = async (db: Queries, ids: readonly string[]) =>
  (await db.all(sql('holders', holderRow)`
    select id, refused, uploaded_at, upload_writer_until, deleted_at, purge_at, stream_status, attempt, encode_try, playback
      from assets where id = any(${ids}::uuid[])`)) as readonly unknown[] as readonly Holder[];

/** Assets whose original was recorded and may be there, a page of them in order of their ids. */
export const recordedOriginals = async (db: Queries, after: string, limit: number): Promise<string[]> =>
  (
    await db.all(sql('recorded originals', { id: 'uuid' })`
    select id from assets
     where id > ${after} and uploaded_at is not null and not refused and (deleted_at is null or purge_at is not null) order by id limit ${limit}`)
  ).map((row) => row.id);
