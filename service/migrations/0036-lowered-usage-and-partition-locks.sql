-- Lower usage is never refused. Before, the deletion of a pending upload failed with MQ001 if its owner was not counted yet.
create or replace function apply_owner_usage(owner text, more_assets bigint, more_bytes bigint, more_pending bigint, is_enforced boolean)
returns void language plpgsql as $$
declare
  total owner_usage;
begin
  perform pg_advisory_xact_lock_shared(80417, usage_bucket(owner));
  update owner_usage set assets = assets + more_assets, bytes = bytes + more_bytes, pending = pending + more_pending
   where owner_user_id = owner returning * into total;
  if not is_enforced or greatest(more_assets, more_bytes, more_pending) <= 0 then
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

-- Partitions are made and dropped under locks of whole tables, which writes of assets need too. Behind a function
-- that waits for a long reader, such as a backup, they would wait as well: the job fails at once and is retried.
alter function make_month_partitions(int) set lock_timeout = '200ms';
alter function drop_month_partitions(text, timestamptz) set lock_timeout = '200ms';
