// Upload rows and their leases: one statement decides which request may write. They use the database's clock,
// which all processes share.
import type { Asset } from '../../assets/asset.ts';
import type { UploadLease } from '../../lifecycle/decisions/change.ts';
import { REQUEST_LEASE_SECONDS } from '../../platform/concurrency/lease.ts';
import type { Queries } from '../../platform/postgres/database.ts';
import type { RowOf } from '../../platform/postgres/row.ts';
import { literals, sql } from '../../platform/postgres/sql.ts';
import { WRITER_PROTOCOLS } from '../../tables-rows.ts';
import { TAKES_BYTES } from '../byte-conditions.sql.ts';

export type WriterProtocol = (typeof WRITER_PROTOCOLS)[number];
const WRITERS = literals(WRITER_PROTOCOLS);

/** `upload` names the object and holds the lease. `sizeBytes` is null until it is known. */
export type PutClaim = Pick<Asset, 'id' | 'attempt'> & {
  readonly upload: string;
  readonly protocol: WriterProtocol;
  readonly sizeBytes: number | null;
};

/** `has_replaced`: an upload whose lease expired, which then cannot finish. */
const CLAIMED = { upload: 'uuid', has_replaced: 'bool', has_byte_limit: 'bool' } as const;

export type ClaimedPut = RowOf<typeof CLAIMED>;

/**
 * Opens PUTs, imports and clips; undefined where another one of the asset runs or the upload is closed.
 * Not synced to disk: finishing the upload detects a row that a power failure removed.
 */
export async function claimPuts(
  db: Queries,
  claims: readonly PutClaim[],
): Promise<(ClaimedPut | undefined)[]> {
  const rows = await db.all(sql('claim puts', CLAIMED)`
    with requested as materialized (
      select * from unnest(${claims.map(({ id }) => id)}::uuid[],
                           ${claims.map(({ attempt }) => attempt)}::int[],
                           ${claims.map(({ upload }) => upload)}::uuid[],
                           ${claims.map(({ protocol }) => protocol)}::text[],
                           ${claims.map(({ sizeBytes }) => sizeBytes)}::int8[])
                      as requested (asset_id, attempt, upload, protocol, size_bytes)),
    target as materialized (
      select upload, protocol, id, owner_user_id, assets.attempt, upload_expires_at,
             coalesce(announced_size_bytes, requested.size_bytes) as size_bytes,
             coalesce(announced_size_bytes, 0) as reserved_bytes
        from assets join requested on asset_id = id and requested.attempt = assets.attempt
       where id = any(array(select asset_id from requested))
         and ${TAKES_BYTES}
         and set_config('synchronous_commit', 'off', true) = 'off'
       order by id for no key update of assets),
    replaced as (
      delete from uploads
       where asset_id = any(array(select id from target)) and protocol in (${WRITERS})
         and finished_at is null and lease_until < now()
      returning asset_id),
    counted as materialized (select coalesce(array_agg(asset_id), '{}') as asset_ids from replaced),
    claimed as (
      insert into uploads
        (id, asset_id, owner_user_id, attempt, protocol, size_bytes, reserved_bytes, lease_holder,
         lease_until, expires_at)
      select upload, target.id, owner_user_id, attempt, protocol, size_bytes, reserved_bytes, upload,
             now() + make_interval(secs => ${REQUEST_LEASE_SECONDS}), coalesce(upload_expires_at, now())
        from target, counted
      on conflict (asset_id, attempt) where protocol in (${WRITERS}) and finished_at is null
      do nothing
      returning id, asset_id, owner_user_id)
    select claimed.id as upload, claimed.asset_id = any(asset_ids) as has_replaced,
           owner_limit(coalesce(overrides, '{}'), 'bytes') is not null as has_byte_limit
      from counted, claimed left join owner_usage using (owner_user_id)`);
  const byUpload = new Map(rows.map((row) => [row.upload, row]));
  return claims.map(({ upload }) => byUpload.get(upload));
}

/** Locks the asset until the end of the transaction; undefined if it takes no bytes. */
export const lockPendingAsset = (tx: Queries, { id, attempt }: Pick<Asset, 'id' | 'attempt'>) =>
  tx.one(sql('lock pending asset', { id: 'uuid' })`
    select id from assets
     where id = ${id} and attempt = ${attempt} and ${TAKES_BYTES} for no key update`);

/**
 * Also counts the bytes that arrived in the owner's usage. Not synced to disk: a lost renewal only lets the
 * lease expire earlier.
 */
export const renewLease = (db: Queries, { upload, holder }: UploadLease, bytesReceived: number) =>
  db.one(sql('renew upload lease')`
    update uploads set lease_until = now() + make_interval(secs => ${REQUEST_LEASE_SECONDS}),
                       bytes_received = ${bytesReceived}
     where id = ${upload} and lease_holder = ${holder}
       and set_config('synchronous_commit', 'off', true) = 'off'`);

/** Seconds until the lease of the PUT, import or clip of an asset expires; undefined if none is open. */
export const findWriterSeconds = async (
  db: Queries,
  { id, attempt }: Pick<Asset, 'id' | 'attempt'>,
): Promise<number | undefined> =>
  (
    await db.one(sql('writer lease', { seconds: 'int4' })`
    select greatest(1, ceil(extract(epoch from lease_until - now())))::int4 as seconds from uploads
     where asset_id = ${id} and attempt = ${attempt} and protocol in (${WRITERS})
       and finished_at is null and lease_until is not null`)
  )?.seconds;

/** Ends an upload that did not finish, and returns its row: it cannot finish any more. */
export const deleteHeldUpload = (db: Queries, { upload, holder }: UploadLease) =>
  db.one(sql('abandon upload', { id: 'uuid' })`
    delete from uploads
     where id = ${upload} and lease_holder = ${holder} and finished_at is null returning id`);

/**
 * Ends the PUTs, imports and clips whose leases expired: they cannot finish any more, so their objects may be
 * removed.
 */
export const endExpiredPuts = (db: Queries, assetIds: readonly string[]) =>
  db.all(sql('end expired puts')`
    delete from uploads
     where asset_id = any(${assetIds}::uuid[]) and protocol in (${WRITERS})
       and finished_at is null and lease_until <= now()`);

/**
 * Uploads that expired and that nobody writes now, longest overdue first. One to a hosted provider ends with
 * its asset.
 */
export const findOverdueUploads = (db: Queries, now: Date, limit: number) =>
  db.all(sql('overdue uploads', { id: 'uuid', asset_id: 'uuid', protocol: 'text', is_partial: 'bool' })`
    select id, asset_id, protocol, protocol = 'tus' and finished_at is null as is_partial from uploads
     where expires_at < ${now} and (lease_until is null or lease_until < now())
       and (protocol <> 'hosted' or finished_at is not null)
     order by expires_at limit ${limit}`);

/** Deletes uploads that nobody writes now: they cannot finish any more. */
export const deleteUploads = (db: Queries, ids: readonly string[]) =>
  db.all(sql('delete uploads')`
    delete from uploads where id = any(${ids}::uuid[]) and (lease_until is null or lease_until < now())`);
