// Who may write an original now, and what is known once it is written.
import type { Asset } from '../assets/asset.ts';
import type { NewEvent } from '../assets/asset-event.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { columns, columnsOf, sql } from '../platform/postgres/sql.ts';
import { uuidV7 } from '../platform/uuid-v7.ts';
import type { StoredBytes } from '../storage/object-store.ts';
import { assetRow } from '../tables.ts';

const ASSET = columns(assetRow);
const DONE = columnsOf('done', assetRow);

/**
 * Claims the asset for one writer, for a minute; undefined if another writer holds the lease, or the bytes are there.
 * Not synced to disk: a lease that a power cut takes away is missed when the upload is finished.
 */
export const claimUpload = (db: Queries, { id, attempt }: Pick<Asset, 'id' | 'attempt'>, writer: string) =>
  db.one(sql('claim upload', { id: 'uuid' })`
    update assets set upload_writer = ${writer}, upload_writer_until = now() + interval '1 minute', revision = revision + 1
     where id = ${id} and attempt = ${attempt} and deleted_at is null and uploaded_at is null and stream_status = 'pending_upload'
       and (upload_writer is null or upload_writer_until < now()) and set_config('synchronous_commit', 'off', true) = 'off'
    returning id`);

/** Renews the lease while bytes arrive. */
export const keepUpload = (db: Queries, id: string, writer: string) =>
  db.one(
    sql(
      'keep upload',
    )`update assets set upload_writer_until = now() + interval '1 minute' where id = ${id} and upload_writer = ${writer}`,
  );

/** Ends the lease; the row tells that this writer has not finished, and cannot finish any more. */
export const releaseUpload = (db: Queries, id: string, writer: string) =>
  db.one(
    sql('release upload', { id: 'uuid' })`
    update assets set upload_writer = null, upload_writer_until = null where id = ${id} and upload_writer = ${writer} returning id`,
  );

/** `completeBy`: until then the bytes are kept for `complete`, however long they took to arrive. */
export type FinishedUpload = {
  readonly writer: string;
  readonly attempt: number;
  readonly stored: StoredBytes;
  readonly event: NewEvent;
  readonly now: Date;
  readonly completeBy: Date;
};

/** Points the asset to this writer's object; undefined if another writer took over, or the asset takes no bytes any more. The lease is the fence: its time does not matter. */
export const finishUpload = async (
  db: Queries,
  id: string,
  { writer, attempt, stored, event, now, completeBy }: FinishedUpload,
) =>
  (await db.one(sql('finish upload', assetRow)`
    with done as (
      update assets set size_bytes = ${stored.sizeBytes}, checksum_sha256 = ${stored.sha256}, uploaded_at = ${now}, original_upload = ${writer}, upload_expires_at = greatest(upload_expires_at, ${completeBy}), updated_at = ${now},
             upload_writer = null, upload_writer_until = null, revision = revision + 1
       where id = ${id} and attempt = ${attempt} and upload_writer = ${writer} and deleted_at is null and uploaded_at is null and stream_status = 'pending_upload' returning ${ASSET}),
    told as (
      insert into events (id, asset_id, owner_user_id, type, data, created_at)
      select ${uuidV7()}::uuid, id, owner_user_id, ${event.type}, ${JSON.stringify(event.data)}::jsonb, ${now}::timestamptz from done)
    select ${DONE} from done`)) as Asset | undefined;
