// SQL queries for usage and limits of owners; triggers in service/migrations update the counters.
import type { Queries } from '../platform/postgres/database.ts';
import { sql } from '../platform/postgres/sql.ts';

const USAGE = {
  assets: 'int8',
  bytes: 'int8',
  pending: 'int8',
  uploading: 'int8',
  max_assets: 'int8?',
  max_bytes: 'int8?',
  max_pending: 'int8?',
  overrides: 'jsonb',
} as const;

/** Counts the assets now when no quota applies to the owner. */
export const findUsage = (db: Queries, ownerUserId: string) =>
  db.one(sql('find usage', USAGE)`
    with tracked as (
      select assets, bytes, pending, overrides from owner_usage where owner_user_id = ${ownerUserId})
    select assets, bytes, pending, overrides,
           (select coalesce(sum(bytes_received), 0)::int8 from uploads
             where owner_user_id = ${ownerUserId} and finished_at is null and bytes_received > 0)
           as uploading,
           owner_limit(overrides, 'assets') as max_assets,
           owner_limit(overrides, 'bytes') as max_bytes,
           owner_limit(overrides, 'pending') as max_pending
      from (select assets, bytes, pending, overrides from tracked
            union all
            select assets, bytes, pending, '{}'::jsonb
              from recount_owner_usage(${ownerUserId})
             where not exists (select from tracked)) as found`);

/** Reads only the byte counter. */
export const findByteUsage = (db: Queries, ownerUserId: string) =>
  db.one(sql('find byte usage', { bytes: 'int8?', max_bytes: 'int8?' })`
    select bytes, owner_limit(coalesce(overrides, '{}'), 'bytes') as max_bytes
      from (select 1) as always left join owner_usage on owner_user_id = ${ownerUserId}`);

/** Starts counting for an owner; does nothing when the owner is tracked. */
export const trackOwner = (db: Queries, ownerUserId: string) =>
  db.one(sql('track owner', { tracked: 'bool' })`
    select track_owner_usage(${ownerUserId}) is not null as tracked`);

export const setOverrides = (db: Queries, ownerUserId: string, overrides: object) =>
  db.one(sql('set overrides', { owner_user_id: 'text' })`
    update owner_usage
       set overrides = ${JSON.stringify(overrides)}::jsonb
     where owner_user_id = ${ownerUserId}
    returning owner_user_id`);

export const upsertDefaultLimits = (
  db: Queries,
  names: readonly string[],
  values: readonly (number | null)[],
) =>
  db.one(sql('upsert default limits')`
    insert into default_owner_limits (name, max_value)
    select name, max_value from unnest(${names}::text[], ${values}::int8[]) as setting (name, max_value)
    on conflict (name) do update set max_value = excluded.max_value`);

/** When the settings limit every owner, the next upload starts counting again. */
export const untrackOwner = (db: Queries, ownerUserId: string) =>
  db.one(sql('untrack owner')`delete from owner_usage where owner_user_id = ${ownerUserId}`);
