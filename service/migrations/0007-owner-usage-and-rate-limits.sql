-- What each owner uses, the limits of single owners, and the token buckets of rate limits.

-- Owners under a quota have a row; of others nothing is counted. Kept by triggers in the transaction that changes an asset.
create table owner_usage (
  owner_user_id text primary key,
  assets bigint not null,
  bytes bigint not null,
  pending bigint not null,
  -- This owner's limits in place of the settings', such as {"bytes": 1000, "assets": null}: null is no limit, an omitted member is the setting.
  overrides jsonb not null default '{}'
) with (fillfactor = 50);

-- An asset in the trash still has its bytes; a deleted one has none.
create function counted_assets(deleted_at timestamptz, purge_at timestamptz) returns int language sql immutable as $$
  select case when deleted_at is null or purge_at is not null then 1 else 0 end
$$;

-- Stored bytes, before that the bytes that were announced; none of a refused upload.
create function counted_bytes(deleted_at timestamptz, purge_at timestamptz, refused boolean, uploaded_at timestamptz, size_bytes bigint, announced_size_bytes bigint)
returns bigint language sql immutable as $$
  select case
    when deleted_at is not null and purge_at is null then 0
    when uploaded_at is not null then coalesce(size_bytes, 0)
    when refused then 0
    else coalesce(announced_size_bytes, 0)
  end
$$;

-- A linked video has no upload to wait for, hence no expiry.
create function counted_pending(deleted_at timestamptz, stream_status text, upload_expires_at timestamptz) returns int language sql immutable as $$
  select case when deleted_at is null and stream_status = 'pending_upload' and upload_expires_at is not null then 1 else 0 end
$$;

create function recount_owner_usage(owner text, out assets bigint, out bytes bigint, out pending bigint) language sql stable as $$
  select count(*),
         coalesce(sum(counted_bytes(deleted_at, purge_at, refused, uploaded_at, size_bytes, announced_size_bytes)), 0)::bigint,
         coalesce(sum(counted_pending(deleted_at, stream_status, upload_expires_at)), 0)::bigint
    from assets where owner_user_id = owner and (deleted_at is null or purge_at is not null)
$$;

-- The limit in force: the owner's own, else the setting of the process, which its connections carry. `field`: assets, bytes or pending.
create function owner_limit(overrides jsonb, field text) returns bigint language sql stable as $$
  select case when overrides ? field then (overrides ->> field)::bigint
              else nullif(current_setting('mediary.owner_max_' || field, true), '')::bigint end
$$;

-- Writers share the lock of an owner's bucket, whoever starts to count takes it alone: the count misses no transaction that is under way.
create function usage_bucket(owner text) returns int language sql immutable as $$ select hashtext(owner) & 63 $$;

-- Starts to count for an owner.
create function track_owner_usage(owner text) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(80417, usage_bucket(owner));
  insert into owner_usage (owner_user_id, assets, bytes, pending)
  select owner, counted.assets, counted.bytes, counted.pending from recount_owner_usage(owner) as counted
  on conflict do nothing;
end $$;

create function refuse_over_limit(field text, max bigint, used bigint, requested bigint) returns void language plpgsql as $$
begin
  if requested > 0 and used + requested > max then
    raise exception 'quota exceeded' using errcode = 'MQ002',
      detail = json_build_object('field', field, 'limit', max, 'used', used, 'requested', requested)::text;
  end if;
end $$;

-- Error MQ001: limits are in force and the owner is not counted yet. Error MQ002: over a limit. The row lock makes limits exact.
create function apply_owner_usage(owner text, more_assets bigint, more_bytes bigint, more_pending bigint, is_enforced boolean)
returns void language plpgsql as $$
declare
  total owner_usage;
begin
  perform pg_advisory_xact_lock_shared(80417, usage_bucket(owner));
  update owner_usage set assets = assets + more_assets, bytes = bytes + more_bytes, pending = pending + more_pending
   where owner_user_id = owner returning * into total;
  if not is_enforced then
    return;
  end if;
  if total.owner_user_id is null then
    if coalesce(owner_limit('{}', 'assets'), owner_limit('{}', 'bytes'), owner_limit('{}', 'pending')) is not null then
      raise exception 'owner is not counted yet' using errcode = 'MQ001';
    end if;
    return;
  end if;
  perform refuse_over_limit('assets', owner_limit(total.overrides, 'assets'), total.assets - more_assets, more_assets);
  perform refuse_over_limit('pending', owner_limit(total.overrides, 'pending'), total.pending - more_pending, more_pending);
  perform refuse_over_limit('bytes', owner_limit(total.overrides, 'bytes'), total.bytes - more_bytes, more_bytes);
end $$;

-- Owners are locked in one order everywhere, so that two statements never wait for each other.
create function count_new_assets() returns trigger language plpgsql as $$
begin
  perform apply_owner_usage(owner_user_id, assets, bytes, pending, true) from (
    select owner_user_id,
           sum(counted_assets(deleted_at, purge_at)) as assets,
           sum(counted_bytes(deleted_at, purge_at, refused, uploaded_at, size_bytes, announced_size_bytes))::bigint as bytes,
           sum(counted_pending(deleted_at, stream_status, upload_expires_at)) as pending
      from after_rows group by owner_user_id order by usage_bucket(owner_user_id), owner_user_id) as change;
  return null;
end $$;

-- Limits hold for what callers do: opening an upload again and recording bytes. What a provider reports is never refused.
create function count_changed_assets() returns trigger language plpgsql as $$
begin
  perform apply_owner_usage(owner_user_id, assets, bytes, pending, is_enforced) from (
    select owner_user_id, sum(more_assets) as assets, sum(more_bytes)::bigint as bytes, sum(more_pending) as pending,
           bool_or(is_open) or sum(more_uploaded) > 0 as is_enforced
      from (select owner_user_id, -counted_assets(deleted_at, purge_at) as more_assets,
                   -counted_bytes(deleted_at, purge_at, refused, uploaded_at, size_bytes, announced_size_bytes) as more_bytes,
                   -counted_pending(deleted_at, stream_status, upload_expires_at) as more_pending,
                   false as is_open, -(uploaded_at is not null)::int as more_uploaded
              from before_rows
            union all
            select owner_user_id, counted_assets(deleted_at, purge_at),
                   counted_bytes(deleted_at, purge_at, refused, uploaded_at, size_bytes, announced_size_bytes),
                   counted_pending(deleted_at, stream_status, upload_expires_at),
                   stream_status = 'pending_upload', (uploaded_at is not null)::int
              from after_rows) as changed
     group by owner_user_id order by usage_bucket(owner_user_id), owner_user_id) as change
   where assets <> 0 or bytes <> 0 or pending <> 0;
  return null;
end $$;

create function count_removed_assets() returns trigger language plpgsql as $$
begin
  perform apply_owner_usage(owner_user_id, -assets, -bytes, -pending, false) from (
    select owner_user_id,
           sum(counted_assets(deleted_at, purge_at)) as assets,
           sum(counted_bytes(deleted_at, purge_at, refused, uploaded_at, size_bytes, announced_size_bytes))::bigint as bytes,
           sum(counted_pending(deleted_at, stream_status, upload_expires_at)) as pending
      from before_rows group by owner_user_id order by usage_bucket(owner_user_id), owner_user_id) as change;
  return null;
end $$;

create trigger count_new_assets after insert on assets
  referencing new table as after_rows for each statement execute function count_new_assets();
create trigger count_changed_assets after update on assets
  referencing old table as before_rows new table as after_rows for each statement execute function count_changed_assets();
create trigger count_removed_assets after delete on assets
  referencing old table as before_rows for each statement execute function count_removed_assets();

-- One token bucket for each owner or address: when it will be full again, and how many tokens the last request batch got. A crash may empty it.
create unlogged table rate_limits (
  key text primary key,
  full_at timestamptz not null,
  granted int not null
) with (fillfactor = 50);
