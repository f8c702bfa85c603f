// The upload lease: which writer may store an original now. These writes bypass revision checks on purpose: they use the clock of the database, which all processes share, and one statement decides between writers.
import type { Asset } from '../assets/asset.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { columns, sql } from '../platform/postgres/sql.ts';
import { assetRow } from '../tables.ts';

const ASSET = columns(assetRow);

/**
 * Claims the asset for one writer, for a minute; undefined if another writer holds the lease, or the asset takes no bytes.
 * Not synced to disk: a lease that a power cut takes away is missed when the upload is finished.
 */
export const claimUpload = async (
  db: Queries,
  { id, attempt }: Pick<Asset, 'id' | 'attempt'>,
  writer: string,
) =>
  (await db.one(sql('claim upload', assetRow)`
    update assets set upload_writer = ${writer}, upload_writer_until = now() + interval '1 minute', revision = revision + 1
     where id = ${id} and attempt = ${attempt} and deleted_at is null and uploaded_at is null and stream_status = 'pending_upload'
       and (upload_writer is null or upload_writer_until < now()) and set_config('synchronous_commit', 'off', true) = 'off'
    returning ${ASSET}`)) as Asset | undefined;

/** Extends the lease while bytes arrive. Keeps the revision: a renewal must not make other writers of the asset read again. */
export const renewUpload = (db: Queries, id: string, writer: string) =>
  db.one(
    sql(
      'renew upload',
    )`update assets set upload_writer_until = now() + interval '1 minute' where id = ${id} and upload_writer = ${writer}`,
  );

/** Ends the lease; returns a row if this writer has not finished. The new revision stops a finish that was decided before. */
export const releaseUpload = (db: Queries, id: string, writer: string) =>
  db.one(
    sql('release upload', { id: 'uuid' })`
    update assets set upload_writer = null, upload_writer_until = null, revision = revision + 1
     where id = ${id} and upload_writer = ${writer} returning id`,
  );

/** Ends expired leases: a writer that was only slow cannot finish any more, so its object may be removed. */
export const endExpiredLeases = (db: Queries, ids: readonly string[]) =>
  db.all(sql('end expired leases')`
    update assets set upload_writer = null, upload_writer_until = null, revision = revision + 1
     where id = any(${ids}::uuid[]) and upload_writer_until <= now()`);
