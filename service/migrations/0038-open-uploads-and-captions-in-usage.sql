-- The bytes of open uploads and of captions count in the usage of their owner.

-- The part of the asset's announced size that the asset reserved when the upload was opened: it is counted already.
alter table uploads add column reserved_bytes bigint not null default 0;
update uploads set reserved_bytes = announced_size_bytes
  from assets
 where assets.id = asset_id and assets.attempt = uploads.attempt and finished_at is null and announced_size_bytes is not null;

create index uploads_open_bytes on uploads (owner_user_id) where finished_at is null and bytes_received > 0;

-- Bytes of captions; none of a deleted asset. `only_own` leaves out those that were found in the video.
create function counted_captions(deleted_at timestamptz, purge_at timestamptz, captions jsonb, only_own boolean)
returns bigint language sql immutable as $$
  select case
    when captions is null or deleted_at is not null and purge_at is null then 0
    else (select coalesce(sum((caption ->> 'sizeBytes')::bigint), 0)::bigint
            from jsonb_array_elements(captions) as caption
           where not (only_own and (caption ->> 'isEmbedded')::boolean))
  end
$$;

-- Bytes of open uploads beyond what their assets reserved.
create function recount_open_uploads(owner text) returns bigint language sql stable as $$
  select coalesce(sum(greatest(received - reserved, 0)), 0)::bigint
    from (select sum(bytes_received) as received, max(reserved_bytes) as reserved
            from uploads where owner_user_id = owner and finished_at is null and bytes_received > 0
           group by asset_id, attempt) as opened
$$;

create or replace function recount_owner_usage(owner text, out assets bigint, out bytes bigint, out pending bigint) language sql stable as $$
  select count(*),
         coalesce(sum(counted_bytes(deleted_at, purge_at, refused, uploaded_at, size_bytes, announced_size_bytes)
                      + counted_captions(deleted_at, purge_at, captions, false)), 0)::bigint + recount_open_uploads(owner),
         coalesce(sum(counted_pending(deleted_at, stream_status, upload_expires_at)), 0)::bigint
    from assets where owner_user_id = owner and (deleted_at is null or purge_at is not null)
$$;

-- A trigger before each row: the statement that finishes an upload lowers the count here before the triggers of
-- `assets` count the stored bytes. The owner's row is locked first, so the other uploads are read as they are.
create function count_open_upload() returns trigger language plpgsql as $$
declare
  bytes_before bigint := case when old.finished_at is null then old.bytes_received else 0 end;
  bytes_after bigint := 0;
  others bigint;
  more bigint;
begin
  if tg_op = 'UPDATE' and new.finished_at is null then
    bytes_after := new.bytes_received;
  end if;
  perform pg_advisory_xact_lock_shared(80417, usage_bucket(old.owner_user_id));
  perform from owner_usage where owner_user_id = old.owner_user_id for no key update;
  select coalesce(sum(bytes_received), 0) into others from uploads
   where asset_id = old.asset_id and attempt = old.attempt and finished_at is null and id <> old.id;
  more := greatest(others + bytes_after - old.reserved_bytes, 0) - greatest(others + bytes_before - old.reserved_bytes, 0);
  if more <> 0 then
    perform apply_owner_usage(old.owner_user_id, 0, more, 0, more > 0);
  end if;
  if tg_op = 'UPDATE' then
    return new;
  end if;
  return old;
end $$;

create trigger uploads_count_change before update on uploads for each row
  when (old.finished_at is null
    and (old.bytes_received <> new.bytes_received or new.finished_at is not null and old.bytes_received > 0))
  execute function count_open_upload();
create trigger uploads_count_removal before delete on uploads for each row
  when (old.finished_at is null and old.bytes_received > 0)
  execute function count_open_upload();

create or replace function count_new_assets() returns trigger language plpgsql as $$
begin
  perform apply_owner_usage(owner_user_id, assets, bytes, pending, true) from (
    select owner_user_id,
           sum(counted_assets(deleted_at, purge_at)) as assets,
           sum(counted_bytes(deleted_at, purge_at, refused, uploaded_at, size_bytes, announced_size_bytes)
               + counted_captions(deleted_at, purge_at, captions, false))::bigint as bytes,
           sum(counted_pending(deleted_at, stream_status, upload_expires_at)) as pending
      from after_rows group by owner_user_id order by usage_bucket(owner_user_id), owner_user_id) as change;
  return null;
end $$;

-- Limits hold for captions of callers too, but not for those that an encoder finds in a stored video.
create or replace function count_changed_assets() returns trigger language plpgsql as $$
begin
  perform apply_owner_usage(owner_user_id, assets, bytes, pending, is_enforced) from (
    select owner_user_id, sum(more_assets) as assets, sum(more_bytes)::bigint as bytes, sum(more_pending) as pending,
           bool_or(is_open) or sum(more_uploaded) > 0 or sum(more_captions) > 0 as is_enforced
      from (select owner_user_id, -counted_assets(deleted_at, purge_at) as more_assets,
                   -counted_bytes(deleted_at, purge_at, refused, uploaded_at, size_bytes, announced_size_bytes)
                   - counted_captions(deleted_at, purge_at, captions, false) as more_bytes,
                   -counted_pending(deleted_at, stream_status, upload_expires_at) as more_pending,
                   false as is_open, -(uploaded_at is not null)::int as more_uploaded,
                   -counted_captions(deleted_at, purge_at, captions, true) as more_captions
              from before_rows
            union all
            select owner_user_id, counted_assets(deleted_at, purge_at),
                   counted_bytes(deleted_at, purge_at, refused, uploaded_at, size_bytes, announced_size_bytes)
                   + counted_captions(deleted_at, purge_at, captions, false),
                   counted_pending(deleted_at, stream_status, upload_expires_at),
                   stream_status = 'pending_upload', (uploaded_at is not null)::int,
                   counted_captions(deleted_at, purge_at, captions, true)
              from after_rows) as changed
     group by owner_user_id order by usage_bucket(owner_user_id), owner_user_id) as change
   where assets <> 0 or bytes <> 0 or pending <> 0;
  return null;
end $$;

create or replace function count_removed_assets() returns trigger language plpgsql as $$
begin
  perform apply_owner_usage(owner_user_id, -assets, -bytes, -pending, false) from (
    select owner_user_id,
           sum(counted_assets(deleted_at, purge_at)) as assets,
           sum(counted_bytes(deleted_at, purge_at, refused, uploaded_at, size_bytes, announced_size_bytes)
               + counted_captions(deleted_at, purge_at, captions, false))::bigint as bytes,
           sum(counted_pending(deleted_at, stream_status, upload_expires_at)) as pending
      from before_rows group by owner_user_id order by usage_bucket(owner_user_id), owner_user_id) as change;
  return null;
end $$;

-- Owners that are counted already.
update owner_usage set (assets, bytes, pending) = (select assets, bytes, pending from recount_owner_usage(owner_user_id));
