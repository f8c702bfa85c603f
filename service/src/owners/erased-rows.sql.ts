// Deletes the rows that belong to erased assets or owners, except assets and events.
import type { Queries, Transaction } from '../platform/postgres/database.ts';
import { sql } from '../platform/postgres/sql.ts';

const REMOVED = { asset_id: 'uuid', kind: 'text', count: 'int8' } as const;

/** Webhooks of an asset, and those of its video that were not matched with it. */
export const deleteDeliveries = (tx: Transaction, erasureId: string, ids: readonly string[]) =>
  tx.all(sql('delete erased deliveries', REMOVED)`
    with matched as (
      delete from deliveries where asset_id = any(${ids}::uuid[]) returning asset_id),
    unmatched as (
      delete from deliveries using owner_erasure_items as item
       where item.erasure_id = ${erasureId} and item.asset_id = any(${ids}::uuid[])
         and deliveries.asset_id is null and deliveries.provider = item.provider
         and deliveries.provider_video_id = item.provider_video_id
      returning item.asset_id),
    sent as (
      delete from endpoint_deliveries where asset_id = any(${ids}::uuid[]) returning asset_id)
    select asset_id, 'webhooks_received' as kind, count(*) as count
      from (table matched union all table unmatched) as received group by asset_id
    union all
    select asset_id, 'webhooks_sent', count(*) from sent group by asset_id`);

/** Uploads, and what jobs remember of an asset. */
export const deleteWorkRows = (tx: Transaction, ids: readonly string[]) =>
  tx.all(sql('delete erased work', REMOVED)`
    with upload as (delete from uploads where asset_id = any(${ids}::uuid[]) returning asset_id),
    import as (delete from imports where asset_id = any(${ids}::uuid[]) returning asset_id),
    clip as (delete from clips where asset_id = any(${ids}::uuid[]) returning asset_id),
    deferred as (delete from deferred_removals where asset_id = any(${ids}::uuid[]) returning asset_id),
    purge as (delete from cdn_purges where asset_id = any(${ids}::uuid[]) returning asset_id, delivered_at),
    growing as (delete from growing_indexes where asset_id = any(${ids}::uuid[]) returning asset_id),
    run as (delete from encode_runs where asset_id = any(${ids}::uuid[]) returning asset_id),
    checkpoint as (delete from encode_checkpoints where asset_id = any(${ids}::uuid[]) returning asset_id),
    chunk as (delete from encode_chunks where asset_id = any(${ids}::uuid[]) returning asset_id),
    wait as (delete from encode_waits where asset_id = any(${ids}::uuid[]) returning asset_id),
    estimate as (delete from encode_estimates where asset_id = any(${ids}::uuid[]) returning asset_id),
    job as (delete from encoder_jobs where asset_id = any(${ids}::uuid[]) returning asset_id),
    token as (delete from upload_token_assets where asset_id = any(${ids}::uuid[]) returning asset_id)
    select asset_id, kind, count(*) as count from (
      select asset_id, 'uploads' as kind from upload
      union all select asset_id, 'imports' from import
      union all select asset_id, 'clips' from clip
      union all select asset_id, 'deferred_removals' from deferred
      union all select asset_id, case when delivered_at is null then 'cdn_purges_not_confirmed'
                                      else 'cdn_purges' end from purge
      union all select asset_id, 'growing_indexes' from growing
      union all select asset_id, 'encode_records' from (
        table run union all table checkpoint union all table chunk union all table wait
        union all table estimate union all table job)
        as encode
      union all select asset_id, 'upload_token_uses' from token) as gone
     group by asset_id, kind`);

/** Stored responses name the asset that they created, or the owner. Returns how many were deleted. */
export const deleteIdempotencyKeys = async (db: Queries, owner: ErasedOwner, limit: number) =>
  (
    await db.one(sql('delete erased keys', { count: 'int8' })`
    with deleted as (
      delete from idempotency_keys where (caller, key) in (
        select caller, key from idempotency_keys as stored
         where caller = 'user ' || ${owner.ownerUserId}
            or caller in (select 'upload token ' || id from upload_tokens
                           where owner_user_id = ${owner.ownerUserId})
            or answer ->> 'owner_user_id' = ${owner.ownerUserId}
            or exists (select from owner_erasure_items
                        where erasure_id = ${owner.erasureId} and asset_id = stored.resource_id)
         limit ${limit})
      returning 1)
    select count(*) from deleted`)
  )?.count ?? 0;

type ErasedOwner = { readonly erasureId: string; readonly ownerUserId: string };

export const deleteUploadTokens = async (db: Queries, owner: string, limit: number) =>
  (
    await db.one(sql('delete erased tokens', { count: 'int8' })`
    with deleted as (
      delete from upload_tokens where id in (
        select id from upload_tokens where owner_user_id = ${owner} limit ${limit})
      returning 1)
    select count(*) from deleted`)
  )?.count ?? 0;

/** With the places of their assets. */
export const deleteCollections = async (db: Queries, owner: string, limit: number) =>
  (
    await db.one(sql('delete erased collections', { count: 'int8' })`
    with deleted as (
      delete from collections where id in (
        select id from collections where owner_user_id = ${owner} limit ${limit})
      returning 1)
    select count(*) from deleted`)
  )?.count ?? 0;

/** A service key goes if its one prefix is the owner, and no other owner begins with it. */
export const deleteOwnerRows = (tx: Transaction, owner: string) =>
  tx.all(sql('delete owner rows', { kind: 'text', count: 'int8' })`
    with usage as (delete from owner_usage where owner_user_id = ${owner} returning 1),
    total as (delete from owner_totals where owner_user_id = ${owner} returning 1),
    session as (delete from console_sessions where owner_user_id = ${owner} returning 1),
    rate as (delete from rate_limits where key = 'owner ' || ${owner} returning 1),
    service_key as (
      delete from service_keys
       where owner_prefixes = array[${owner}::text]
         and not exists (select from assets
                          where starts_with(owner_user_id, ${owner}) and owner_user_id <> ${owner})
      returning 1)
    select 'usage' as kind, count(*) as count from usage
    union all select 'usage_totals', count(*) from total
    union all select 'console_sessions', count(*) from session
    union all select 'rate_limits', count(*) from rate
    union all select 'service_keys', count(*) from service_key`);
