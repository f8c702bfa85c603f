// Queries for resumable uploads. The row's offset is authoritative; only the lease holder changes it.
import type { Asset } from '../../assets/asset.ts';
import type { UploadLease } from '../../lifecycle/decisions/change.ts';
import { LEASE_SECONDS, REQUEST_LEASE_SECONDS } from '../../platform/concurrency/lease.ts';
import type { Queries } from '../../platform/postgres/database.ts';
import { columns, columnsOf, sql } from '../../platform/postgres/sql.ts';
import { uploadRow } from '../../tables-rows.ts';
import { pick } from '../../tables.ts';
import { IS_CLOSED, TAKES_BYTES } from '../byte-conditions.sql.ts';
import type { FinalPart } from './upload-concat.ts';

export const resumableColumns = pick(uploadRow, [
  'id',
  'asset_id',
  'attempt',
  'target',
  'size_bytes',
  'bytes_received',
  'expires_at',
  'finished_at',
  'concatenation',
  'parts',
]);

const RESUMABLE = columns(resumableColumns);
const UPLOADS = columnsOf('uploads', resumableColumns);

type NewResumable = {
  readonly lease: UploadLease;
  readonly sizeBytes: number | null;
  readonly expiresAt: Date;
  readonly concatenation: 'partial' | 'final' | null;
  /** Of a final upload. */
  readonly parts?: readonly FinalPart[];
};

/** Undefined if the asset has `maxOpen` open uploads of this kind already. */
export const insertResumable = (
  tx: Queries,
  asset: Pick<Asset, 'id' | 'attempt' | 'owner_user_id' | 'announced_size_bytes'>,
  { lease, maxOpen, ...upload }: NewResumable & { readonly maxOpen: number },
) =>
  tx.one(sql('insert resumable upload', resumableColumns)`
    insert into uploads
      (id, asset_id, owner_user_id, attempt, protocol, size_bytes, reserved_bytes, lease_holder, lease_until,
       expires_at, concatenation, parts)
    select ${lease.upload}::uuid, ${asset.id}::uuid, ${asset.owner_user_id}::text, ${asset.attempt}::int4,
           'tus', ${upload.sizeBytes}::int8, ${asset.announced_size_bytes ?? 0}::int8, ${lease.holder}::uuid,
           now() + make_interval(secs => ${REQUEST_LEASE_SECONDS}), ${upload.expiresAt}::timestamptz,
           ${upload.concatenation}::text, ${upload.parts ? JSON.stringify(upload.parts) : null}::jsonb
     where ${maxOpen}::int4 > (
       select count(*) from uploads
        where asset_id = ${asset.id} and attempt = ${asset.attempt} and protocol = 'tus'
          and finished_at is null and concatenation is not distinct from ${upload.concatenation}::text)
    returning ${RESUMABLE}`);

/** A resumable upload as it is now, also one that a request writes. */
export const findResumable = (db: Queries, assetId: string, id: string) =>
  db.one(sql('find resumable upload', resumableColumns)`
    select ${RESUMABLE} from uploads where id = ${id} and asset_id = ${assetId} and protocol = 'tus'`);

/** The final uploads of an attempt: at most one is open. */
export const findFinals = (db: Queries, { id, attempt }: Pick<Asset, 'id' | 'attempt'>) =>
  db.all(sql('find final uploads', resumableColumns)`
    select ${RESUMABLE} from uploads
     where asset_id = ${id} and attempt = ${attempt} and concatenation = 'final'`);

/**
 * Claims the upload if nobody writes it, else asks the holder to end. Undefined if it does not exist. A
 * finished upload needs no lease. Leases are not synced to disk: a lost one is detected by the next write.
 */
export const claimResumable = (db: Queries, assetId: string, { upload, holder }: UploadLease) =>
  db.one(sql('claim resumable upload', { ...resumableColumns, is_claimed: 'bool' })`
    with seen as materialized (
      select id, lease_holder is null or lease_until < now() as is_free,
             (lease_holder is null or lease_until < now()) and finished_at is null as is_claimable
        from uploads
       where id = ${upload} and asset_id = ${assetId} and protocol = 'tus'
         and set_config('synchronous_commit', 'off', true) = 'off' for no key update)
    update uploads
       set lease_holder = case when is_claimable then ${holder}::uuid else lease_holder end,
           lease_until = case when is_claimable then now() + make_interval(secs => ${REQUEST_LEASE_SECONDS})
                              else lease_until end,
           is_release_requested = not is_free
      from seen where uploads.id = seen.id
    returning ${UPLOADS}, lease_holder is not distinct from ${holder}::uuid as is_claimed`);

/**
 * Returns whether another request waits, and whether the asset still takes the bytes; undefined if the lease
 * is lost.
 */
export const renewResumable = (db: Queries, { upload, holder }: UploadLease, maxAgeSeconds: number) =>
  db.one(sql('renew resumable upload', { is_release_requested: 'bool', takes_bytes: 'bool' })`
    update uploads set lease_until = now() + make_interval(secs => ${REQUEST_LEASE_SECONDS})
      from assets
     where uploads.id = ${upload} and lease_holder = ${holder} and assets.id = asset_id
       and set_config('synchronous_commit', 'off', true) = 'off'
    returning is_release_requested,
              uploads.attempt = assets.attempt and ${TAKES_BYTES}
              and uploads.created_at + make_interval(secs => ${maxAgeSeconds}) > now() as takes_bytes`);

export const releaseResumable = (db: Queries, { upload, holder }: UploadLease) =>
  db.one(sql('release resumable upload')`
    update uploads set lease_holder = null, lease_until = null, is_release_requested = false
     where id = ${upload} and lease_holder = ${holder}
       and set_config('synchronous_commit', 'off', true) = 'off'`);

type Progress = {
  readonly bytesReceived: number;
  /** What the store needs to go on. */
  readonly target: unknown;
  readonly expiresAt: Date;
  /** Since the upload was created: it expires then, although bytes arrive. */
  readonly maxAgeSeconds: number;
};

/** Moves the offset to bytes that are durable; undefined if the lease is lost. */
export const recordProgress = (db: Queries, { upload, holder }: UploadLease, progress: Progress) =>
  db.one(sql('record upload progress', resumableColumns)`
    update uploads
       set bytes_received = ${progress.bytesReceived}, target = ${JSON.stringify(progress.target)}::jsonb,
           expires_at = least(greatest(expires_at, ${progress.expiresAt}::timestamptz),
                              created_at + make_interval(secs => ${progress.maxAgeSeconds}))
     where id = ${upload} and lease_holder = ${holder} and finished_at is null returning ${RESUMABLE}`);

/** Undefined if the lease is lost, or if the length is known. */
export const declareLength = (db: Queries, { upload, holder }: UploadLease, sizeBytes: number) =>
  db.one(sql('declare upload length', resumableColumns)`
    update uploads set size_bytes = ${sizeBytes}
     where id = ${upload} and lease_holder = ${holder} and size_bytes is null returning ${RESUMABLE}`);

/** Claims an upload for its removal: it cannot finish any more. Undefined if a request writes it. */
export const claimResumableRemoval = (db: Queries, { upload, holder }: UploadLease) =>
  db.one(sql('claim resumable removal', { id: 'uuid' })`
    update uploads
       set lease_holder = ${holder}::uuid, lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
     where id = ${upload} and protocol = 'tus' and finished_at is null
       and (lease_until is null or lease_until < now())
    returning id`);

/** The oldest whole uploads of an asset that nobody writes now, as many as are open beyond `keep`. */
export const findSurplusUploads = (db: Queries, assetId: string, keep: number) =>
  db.all(sql('surplus uploads', { id: 'uuid' })`
    with opened as materialized (
      select id, created_at, lease_until is null or lease_until < now() as is_idle from uploads
       where asset_id = ${assetId} and protocol = 'tus' and finished_at is null and concatenation is null)
    select id from opened where is_idle
     order by created_at limit (select greatest(count(*) - ${keep}::int4, 0) from opened)`);

/**
 * Uploads of an asset that cannot finish any more, because it has its bytes, was deleted, or is in another
 * attempt.
 */
export const findClosedUploads = (db: Queries, assetId: string) =>
  db.all(sql('closed uploads', { id: 'uuid', asset_id: 'uuid', protocol: 'text' })`
    select uploads.id, asset_id, protocol
      from uploads join assets on assets.id = uploads.asset_id
     where asset_id = ${assetId} and protocol in ('tus', 's3-multipart') and finished_at is null
       and (lease_until is null or lease_until < now())
       and (uploads.attempt <> assets.attempt or ${IS_CLOSED})`);

export const countOtherUploads = async (
  db: Queries,
  { id, assetId }: { readonly id: string; readonly assetId: string },
): Promise<number> =>
  (
    await db.one(sql('count other uploads', { others: 'int4' })`
    select count(*)::int4 as others from uploads where asset_id = ${assetId} and id <> ${id}`)
  )?.others ?? 0;

/** `others`: further uploads of the asset. `is_import`: the upload holds the bytes of an import. */
export const findUploadContext = (
  db: Queries,
  { id, assetId }: { readonly id: string; readonly assetId: string },
) =>
  db.one(sql('upload context', { others: 'int4', is_import: 'bool' })`
    select (select count(*)::int4 from uploads where asset_id = ${assetId} and id <> ${id}) as others,
           exists (select from imports
                    where asset_id = ${assetId} and (partial ->> 'uploadId')::uuid = ${id}) as is_import`);

/** Uploads with all bytes that did not finish, because their process ended in between; also final ones. */
export const findCompleteUploads = (db: Queries, now: Date, limit: number) =>
  db.all(sql('complete uploads', { id: 'uuid', asset_id: 'uuid' })`
    select uploads.id, asset_id
      from uploads join assets on assets.id = uploads.asset_id and assets.attempt = uploads.attempt
     where protocol = 'tus' and finished_at is null
       and (concatenation = 'final' or concatenation is null and bytes_received = uploads.size_bytes)
       and (lease_until is null or lease_until < now()) and uploads.expires_at > ${now}
       and ${TAKES_BYTES}
     limit ${limit}`);
