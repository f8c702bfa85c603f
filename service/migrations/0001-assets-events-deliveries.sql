-- Assets, what happened to them, and the webhook deliveries that caused it.

create table assets (
  id uuid primary key,
  owner_user_id text not null,
  kind text not null check (kind in ('image', 'video')),
  filename text not null,
  content_type text not null,
  mime_type text not null,
  visibility text not null check (visibility in ('private', 'public')),
  title text,
  tags text[] not null default '{}',
  metadata jsonb,
  announced_size_bytes bigint,
  announced_sha256 text,
  size_bytes bigint,
  checksum_sha256 text,
  uploaded_at timestamptz,
  upload_expires_at timestamptz,
  upload_writer uuid,
  upload_writer_until timestamptz,
  provider text check (provider in ('cdnhost', 'edgehost', 'onprem')),
  provider_video_id text,
  stream_status text not null default 'pending_upload' check (stream_status in ('pending_upload', 'processing', 'ready', 'failed')),
  attempt int not null default 1,
  progress int not null default 0,
  renditions jsonb not null default '[]',
  warnings jsonb not null default '[]',
  failure jsonb,
  refused boolean not null default false,
  playback jsonb,
  playback_version int not null default 1,
  playable_at timestamptz,
  completed_at timestamptz,
  width int,
  height int,
  duration_ms bigint,
  placeholder text,
  encode_try int not null default 0,
  encoded_try int not null default 0,
  version int not null default 1,
  revision int not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz
);

-- Rows change several times while a video is encoded: room on the page keeps those updates cheap.
alter table assets set (fillfactor = 80);

-- A list is one walk along this index: ids are ordered by time.
create index assets_by_owner on assets (owner_user_id, id desc) where deleted_at is null;

-- A provider's video belongs to one living asset; a webhook finds it by this pair, a tombstone too.
create unique index assets_provider_video on assets (provider, provider_video_id) where deleted_at is null and provider_video_id is not null;
create index assets_provider_video_any on assets (provider, provider_video_id) where provider_video_id is not null;

-- Both grow without end, so both are cut by month. Their UUIDv7 ids are ordered by time, which makes the id the partition key.
create table events (
  id uuid not null,
  asset_id uuid not null,
  owner_user_id text not null,
  type text not null,
  data jsonb not null,
  created_at timestamptz not null,
  primary key (asset_id, id)
) partition by range (id);
create index events_by_owner on events (owner_user_id, id);

create table deliveries (
  id uuid not null primary key,
  provider text not null,
  provider_video_id text,
  asset_id uuid,
  body bytea not null,
  headers jsonb not null,
  processed boolean not null,
  reason text not null,
  received_at timestamptz not null
) partition by range (id);
create index deliveries_by_asset on deliveries (asset_id, id) where asset_id is not null;
create index deliveries_parked on deliveries (provider, provider_video_id, id) where reason = 'parked';

-- Rows of a wrong clock, or of a month whose partition is missing, are kept here rather than refused.
create table events_default partition of events default;
create table deliveries_default partition of deliveries default;

create function first_id_of(moment timestamptz) returns uuid language sql immutable strict as $$
  select (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Makes the partitions of this month and of the months ahead; answers how many were missing. Rows that came before their partition move into it.
create function make_month_partitions(months_ahead int) returns int language plpgsql as $$
declare
  parent text;
  month timestamp;
  part text;
  first uuid;
  past uuid;
  made int := 0;
begin
  -- Without a time zone, since a month is not as long in each.
  for month in select date_trunc('month', now() at time zone 'utc') + make_interval(months => n) from generate_series(0, months_ahead) as n loop
    first := first_id_of(month at time zone 'utc');
    past := first_id_of((month + interval '1 month') at time zone 'utc');
    foreach parent in array array['events', 'deliveries'] loop
      part := parent || to_char(month, '_YYYY_MM');
      if to_regclass(part) is null then
        execute format('create table %I (like %I including defaults including constraints)', part, parent);
        execute format('with late as (delete from %I where id >= %L and id < %L returning *) insert into %I select * from late', parent || '_default', first, past, part);
        execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, part, first, past);
        made := made + 1;
      end if;
    end loop;
  end loop;
  return made;
end $$;

select make_month_partitions(3);

-- Secrets that the service made for itself because none was given.
create table secrets (
  name text primary key,
  value text not null,
  created_at timestamptz not null default now()
);
