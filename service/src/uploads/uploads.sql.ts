// Upload rows and their leases: one statement decides which request may write. They use the database's clock,
// which all processes share.
import type { Asset } from '../assets/asset.ts';
import type { UploadLease } from '../lifecycle/change.ts';
import { LEASE_SECONDS } from '../platform/concurrency/lease.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { sql } from '../platform/postgres/sql.ts';

/**
 * Opens a PUT of the asset; undefined if another one runs or the upload is closed. Replaces one whose lease
 * expired, which then cannot finish.
 * Not synced to disk: finishing the upload detects a row that a power failure removed.
 */
export const claimPut = (
  db: Queries,
  { id, attempt }: Pick<Asset, 'id' | 'attempt'>,
  { upload, holder }: UploadLease,
) =>
  db.one(sql('claim put', { has_replaced: 'bool' })`
    with target as materialized (
      select id, owner_user_id, attempt, announced_size_bytes, upload_expires_at from assets
       where id = ${id} and attempt = ${attempt} and deleted_at is null and uploaded_at is null
         and stream_status = 'pending_upload'
         and set_config('synchronous_commit', 'off', true) = 'off' for no key update),
    replaced as (
      delete from uploads using target
       where uploads.asset_id = target.id and protocol = 'put' and finished_at is null and lease_until < now()
      returning uploads.id),
    counted as materialized (select count(*) > 0 as has_replaced from replaced),
    claimed as (
      insert into uploads
        (id, asset_id, owner_user_id, attempt, protocol, size_bytes, lease_holder, lease_until, expires_at)
      select ${upload}::uuid, target.id, target.owner_user_id, target.attempt, 'put',
             announced_size_bytes, ${holder}::uuid, now() + make_interval(secs => ${LEASE_SECONDS}),
             coalesce(upload_expires_at, now())
        from target, counted
      on conflict (asset_id, attempt) where protocol = 'put' and finished_at is null do nothing returning id)
    select has_replaced from claimed, counted`);

export const renewLease = (db: Queries, { upload, holder }: UploadLease) =>
  db.one(sql('renew upload lease')`
    update uploads set lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
     where id = ${upload} and lease_holder = ${holder}`);

/** Ends an upload that did not finish, and returns its row: it cannot finish any more. */
export const deleteHeldUpload = (db: Queries, { upload, holder }: UploadLease) =>
  db.one(sql('abandon upload', { id: 'uuid' })`
    delete from uploads
     where id = ${upload} and lease_holder = ${holder} and finished_at is null returning id`);

/** Ends the PUTs whose leases expired: they cannot finish any more, so their objects may be removed. */
export const endExpiredPuts = (db: Queries, assetIds: readonly string[]) =>
  db.all(sql('end expired puts')`
    delete from uploads
     where asset_id = any(${assetIds}::uuid[]) and protocol = 'put' and finished_at is null
       and lease_until <= now()`);

/** Uploads that expired and that nobody writes now, longest overdue first. */
export const findOverdueUploads = (db: Queries, now: Date, limit: number) =>
  db.all(sql('overdue uploads', { id: 'uuid', asset_id: 'uuid', protocol: 'text' })`
    select id, asset_id, protocol from uploads
     where expires_at < ${now} and (lease_until is null or lease_until < now())
     order by expires_at limit ${limit}`);

/** Deletes uploads that nobody writes now: they cannot finish any more. */
export const deleteUploads = (db: Queries, ids: readonly string[]) =>
  db.all(sql('delete uploads')`
    delete from uploads where id = any(${ids}::uuid[]) and (lease_until is null or lease_until < now())`);
