-- Hosted providers are asked what became of their videos, and everything that waits has a time at which somebody looks.

-- A new provider needs no migration: the code knows their names.
alter table assets drop constraint assets_provider_check;

-- The provider itself was asked and said its last word on this attempt: later webhooks change nothing.
alter table assets add column closed boolean not null default false;
-- When the sweep looks next; null: nothing is waited for.
alter table assets add column check_at timestamptz;
create index assets_to_check on assets (check_at) where check_at is not null and deleted_at is null;
-- How fast a provider was lately.
create index assets_by_completion on assets (provider, completed_at desc) where completed_at is not null;

update assets set check_at = now() where stream_status = 'processing' and deleted_at is null;

-- Signed by our own encoder, which the body alone does not tell.
alter table deliveries add column is_ours boolean not null default false;
-- From its arrival until it was kept.
alter table deliveries add column latency_ms int not null default 0;
create index deliveries_by_provider on deliveries (provider, id);

-- Drops the months of a parent that ended before a time, and what lies in its default partition from before it; answers how many months.
create function drop_month_partitions(parent text, before timestamptz) returns int language plpgsql as $$
declare
  part text;
  dropped int := 0;
begin
  for part in
    select relname from pg_inherits join pg_class on pg_class.oid = inhrelid
     where inhparent = to_regclass(parent) and relname ~ (parent || '_\d{4}_\d{2}$')
       and (to_date(right(relname, 7), 'YYYY_MM') + interval '1 month') at time zone 'utc' <= before
  loop
    execute format('drop table %I', part);
    dropped := dropped + 1;
  end loop;
  execute format('delete from %I where id < %L', parent || '_default', first_id_of(before));
  return dropped;
end $$;
