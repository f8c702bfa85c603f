// What the database knows of stored objects: which assets may have which.
import type { Queries } from '../platform/postgres/database.ts';
import { columns, sql } from '../platform/postgres/sql.ts';
import { assetRow, pick } from '../tables.ts';
import type { ObjectOwner } from './orphan.ts';

const objectOwnerColumns = pick(assetRow, [
  'id',
  'refused',
  'uploaded_at',
  'original_upload',
  'upload_writer',
  'upload_writer_until',
  'deleted_at',
  'purge_at',
  'stream_status',
  'attempt',
  'encode_try',
  'playback',
]);

export const holders = async (db: Queries, ids: readonly string[]) =>
  (await db.all(sql('holders', objectOwnerColumns)`
    select ${columns(objectOwnerColumns)}
      from assets where id = any(${ids}::uuid[])`)) as readonly unknown[] as readonly ObjectOwner[];

/** Assets whose original is recorded, a page of them in the order of their ids. */
export const recordedOriginals = (db: Queries, after: string, limit: number) =>
  db.all(sql('recorded originals', { id: 'uuid', original_upload: 'uuid?' })`
    select id, original_upload from assets
     where id > ${after} and uploaded_at is not null and not refused and (deleted_at is null or purge_at is not null) order by id limit ${limit}`);
