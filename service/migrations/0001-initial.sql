-- The schema: assets and what happened to them, uploads, encodes, webhooks both ways, usage, keys and workers.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- Assets ----------------------------------------------------------------------------------------------------------

-- The code knows the names of providers, so that a new one needs no migration.
create table assets (
  id uuid primary key,
  owner_user_id text not null,
  kind text not null check (kind in ('image', 'video', 'audio')),
  filename text not null,
  content_type text not null,
  mime_type text not null,
  visibility text not null check (visibility in ('private', 'public')),
  title text,
  tags text[] not null default '{}',
  metadata jsonb,
  -- The application's own id.
  external_id text,
  -- When the asset is deleted for good; null: never.
  expires_at timestamptz,
  -- True: nothing deletes the asset or replaces its bytes.
  legal_hold boolean not null default false,
  announced_size_bytes bigint,
  announced_sha256 text,
  size_bytes bigint,
  checksum_sha256 text,
  uploaded_at timestamptz,
  upload_expires_at timestamptz,
  provider text,
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
  ready_at timestamptz,
  width int,
  height int,
  duration_ms bigint,
  placeholder text,
  encode_run int not null default 0,
  encoded_run int not null default 0,
  version int not null default 1,
  revision int not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  -- Until when an asset in the trash can be restored; null for one that is deleted for good.
  purge_at timestamptz,
  -- The provider itself was asked and gave its final answer on this attempt: later webhooks change nothing.
  settled boolean not null default false,
  -- When the reconcile job looks at the asset next; null: nothing is waited for.
  reconcile_at timestamptz,
  -- Which picture of a video its thumbnail shows, in milliseconds from its start; null: chosen by the service.
  poster_time_ms bigint,
  -- The part of an image that crops keep, as {"x", "y"} from 0 to 1; null: the center.
  focal_point jsonb,
  -- Who may play the asset, as {"referrers", "networks", "countries", …}; null: everybody that its visibility allows.
  access jsonb,
  -- [{start_ms, title}] in order; null: those of the file, once they are known; []: the caller wants none.
  chapters jsonb,
  -- The upload whose object is the original: originals/<asset>/<upload>.
  original_upload uuid,
  -- An earlier asset of the owner with the same bytes. Set when the bytes are stored, kept when that asset is deleted.
  duplicate_of uuid,
  -- The longest video that the caller announced for an upload, for providers that reserve storage for it.
  max_duration_s int,
  -- Captions of a video. A column, so that one statement publishes them with their event, and players need no more reads.
  captions jsonb,
  -- What the original of a video contains, as our own encoder reported it.
  media jsonb,
  -- The asset that a clip was cut from, and the part in milliseconds; it stays when that asset goes.
  clip_of jsonb,
  -- Runs of the attempt that a stopping process, a full disk or an unavailable store ended: they are no crashes.
  encode_interruptions int not null default 0,
  -- The last attempt whose delay was announced (asset.delayed).
  delayed_attempt int not null default 0,
  -- Of a replacement: the asset whose file it takes the place of, once it is ready.
  version_of uuid,
  -- The columns of the file that was replaced, with {"replaced_at", "restorable_until"}; null: none is kept.
  previous_version jsonb,
  -- A held asset may lie in the trash, but is never deleted for good.
  constraint assets_held check (not legal_hold or deleted_at is null or purge_at is not null)
) with (
  -- Rows change several times while a video is encoded: room on the page keeps those updates cheap.
  fillfactor = 80
);

-- No index here has a column that reports and checks change (stream_status, reconcile_at, ready_at, progress): the
-- update of such a column then writes no index (docs/decisions/0017-few-indexes.md). What depends on them is in
-- unfinished_assets.

-- A list is one walk along an index: ids are ordered by time. A kind and a provider are compared in the index.
-- Lists leave out replacements, also where they only count.
create index assets_by_owner on assets (owner_user_id, id desc, kind, provider) include (version_of) where deleted_at is null;
-- A tag and a search, of one owner or of all: GIN serves any subset of its columns.
create index assets_by_text on assets using gin (owner_user_id, tags, lower(coalesce(title, '') || ' ' || filename) gin_trgm_ops) where deleted_at is null;
-- Members of metadata. Assets without metadata have no entry.
create index assets_by_metadata on assets using gin (owner_user_id, metadata jsonb_path_ops) where metadata is not null and deleted_at is null;
create index assets_with_expiry on assets (owner_user_id, id desc) where expires_at is not null and deleted_at is null;
create index assets_in_trash on assets (owner_user_id, id desc) where purge_at is not null;
-- Finds what an erasure of an owner removes, beside the active assets.
create index assets_deleted on assets (owner_user_id, id) where deleted_at is not null;

-- Lists across owners. A kind, the status "ready" and an unfiltered list walk the primary key.
create index assets_by_provider on assets (provider, id desc) where deleted_at is null and provider is not null;
create index assets_all_with_expiry on assets (id desc) where expires_at is not null and deleted_at is null;
create index assets_all_in_trash on assets (id desc) where purge_at is not null;

-- Counts for metrics. Equal providers share one entry, so the index is small.
create index assets_to_count on assets (provider) where deleted_at is null;

-- A provider's video belongs to one living asset; for a deleted one the third column is its id. A webhook finds an
-- asset by the first two, also after it was deleted.
create unique index assets_provider_video on assets (provider, provider_video_id, (case when deleted_at is not null then id end))
  nulls not distinct where provider_video_id is not null;

-- An application's own id names one living asset of an owner. Operators look for one without an owner.
create unique index assets_external_id on assets (external_id, owner_user_id)
  where external_id is not null and deleted_at is null;

-- Finds the assets with the same bytes by one expression, which no other index has. With the two columns as
-- conditions, PostgreSQL read all assets of an owner whenever it took each owner for a small one. The hash is an
-- eighth of the text.
create index assets_by_bytes on assets (hashtextextended(owner_user_id || ' ' || checksum_sha256, 0), id)
  where uploaded_at is not null and deleted_at is null;

-- An asset has one replacement at a time.
create unique index assets_replacement on assets (version_of) where version_of is not null and deleted_at is null;

-- The attempts of all replacements that an asset had. Only replacements have entries.
create index assets_replacements on assets (version_of) where version_of is not null;

-- What jobs look for.
create index assets_previous_version on assets ((previous_version ->> 'restorable_until'), id) where previous_version is not null;
create index assets_to_purge on assets (purge_at) where purge_at is not null;
create index assets_expiring on assets (expires_at, id) where expires_at is not null and not legal_hold and (deleted_at is null or purge_at is not null);

-- The living assets that are not ready or wait for a check: lists by status and jobs read these few rows. Triggers of
-- `assets` write them in the statement of the change. Every row is changed under the lock of its asset.
create table unfinished_assets (
  asset_id uuid primary key,
  owner_user_id text not null,
  stream_status text not null,
  provider text,
  reconcile_at timestamptz,
  -- Null unless bytes are awaited.
  upload_expires_at timestamptz,
  -- Null unless the asset is being processed.
  processing_since timestamptz
);
create index unfinished_by_owner on unfinished_assets (owner_user_id, stream_status, asset_id desc);
create index unfinished_by_status on unfinished_assets (stream_status, asset_id desc);
create index unfinished_to_expire on unfinished_assets (upload_expires_at) where upload_expires_at is not null;
create index unfinished_to_reconcile on unfinished_assets (reconcile_at) where reconcile_at is not null;

create function is_unfinished(deleted_at timestamptz, stream_status text, reconcile_at timestamptz) returns boolean
language sql immutable as $$
  select deleted_at is null and (stream_status <> 'ready' or reconcile_at is not null)
$$;

create function awaited_until(stream_status text, upload_expires_at timestamptz) returns timestamptz language sql immutable as $$
  select case when stream_status = 'pending_upload' then upload_expires_at end
$$;

create function add_unfinished_assets() returns trigger language plpgsql as $$
begin
  insert into unfinished_assets (asset_id, owner_user_id, stream_status, provider, reconcile_at, upload_expires_at, processing_since)
  select id, owner_user_id, stream_status, provider, reconcile_at, awaited_until(stream_status, upload_expires_at),
         case when stream_status = 'processing' then now() end
    from after_rows where is_unfinished(deleted_at, stream_status, reconcile_at);
  return null;
end $$;

create function change_unfinished_asset() returns trigger language plpgsql as $$
begin
  if not is_unfinished(new.deleted_at, new.stream_status, new.reconcile_at) then
    delete from unfinished_assets where asset_id = new.id;
    return null;
  end if;
  insert into unfinished_assets as known (asset_id, owner_user_id, stream_status, provider, reconcile_at, upload_expires_at,
                                          processing_since)
  values (new.id, new.owner_user_id, new.stream_status, new.provider, new.reconcile_at,
          awaited_until(new.stream_status, new.upload_expires_at),
          case when new.stream_status = 'processing' then now() end)
  on conflict (asset_id) do update
     set owner_user_id = excluded.owner_user_id, stream_status = excluded.stream_status, provider = excluded.provider,
         reconcile_at = excluded.reconcile_at, upload_expires_at = excluded.upload_expires_at,
         processing_since = case when excluded.processing_since is not null
           then coalesce(known.processing_since, excluded.processing_since) end;
  return null;
end $$;

create function remove_unfinished_assets() returns trigger language plpgsql as $$
begin
  delete from unfinished_assets using before_rows where asset_id = before_rows.id;
  return null;
end $$;

create trigger add_unfinished_assets after insert on assets
  referencing new table as after_rows for each statement execute function add_unfinished_assets();
create trigger change_unfinished_asset after update on assets for each row
  when ((old.owner_user_id, old.stream_status, old.provider, old.reconcile_at, old.upload_expires_at, old.deleted_at)
    is distinct from (new.owner_user_id, new.stream_status, new.provider, new.reconcile_at, new.upload_expires_at, new.deleted_at))
  execute function change_unfinished_asset();
create trigger remove_unfinished_assets after delete on assets
  referencing old table as before_rows for each statement execute function remove_unfinished_assets();

-- The first response to a request with an Idempotency-Key, given again to the next one with the same key.
create table idempotency_keys (
  caller text not null,
  key text not null,
  fingerprint text not null,
  resource_id uuid not null,
  answer jsonb,
  leased_by uuid,
  leased_until timestamptz,
  created_at timestamptz not null default now(),
  primary key (caller, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- Objects of purged and replaced assets stay in the object store for PURGE_GRACE_DAYS, so that a backup of the database
-- that is restored within this time finds its bytes.
create table deferred_removals (
  asset_id uuid not null,
  -- The key of an object, or a prefix of keys that ends in a slash.
  key text not null,
  remove_after timestamptz not null,
  primary key (asset_id, key)
);
create index deferred_removals_by_time on deferred_removals (remove_after);

-- Comparisons of the database with the object store and the hosted providers, which a job runs.
create table storage_checks (
  id uuid primary key,
  -- What the operator asked for, as JSON.
  options jsonb not null,
  status text not null check (status in ('waiting', 'running', 'done', 'failed', 'cancelled')),
  stage text not null,
  -- Where the stage continues: a key, or the id of an asset. Empty at its start.
  position text not null default '',
  -- Raised by each worker that takes the check over: an earlier one cannot record anything any more.
  run int not null default 0,
  counts jsonb not null,
  error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  finished_at timestamptz
);
create unique index storage_checks_one_open on storage_checks ((true)) where status in ('waiting', 'running');

create table storage_findings (
  check_id uuid not null references storage_checks on delete cascade,
  number bigint not null,
  kind text not null,
  repair text not null,
  asset_id uuid,
  key text,
  provider text,
  provider_video_id text,
  size_bytes bigint,
  expected_size_bytes bigint,
  repaired_at timestamptz,
  repair_error text,
  primary key (check_id, number)
);
create index storage_findings_unrepaired on storage_findings (check_id, number)
  where repair <> 'none' and repaired_at is null and repair_error is null;

-- The videos that a hosted provider has listed for a check, until their stage ends.
create table storage_check_videos (
  check_id uuid not null references storage_checks on delete cascade,
  provider text not null,
  provider_video_id text not null,
  primary key (check_id, provider, provider_video_id)
);

-- The files of assets that a CDN has to purge. Every raise of an asset's playback version is at most one purge. Rows
-- outlive their assets and are deleted after the retention of webhooks.
create table cdn_purges (
  asset_id uuid not null,
  playback_version int not null,
  reason text not null check (reason in ('deleted', 'made_private', 'access_restricted', 'revoked', 'replaced')),
  -- Of the URLs to purge.
  prefix text not null,
  attempts int not null default 0,
  last_error text,
  created_at timestamptz not null,
  delivered_at timestamptz,
  primary key (asset_id, playback_version)
);
create index cdn_purges_newest on cdn_purges (created_at desc);

-- Events and webhooks of providers --------------------------------------------------------------------------------

-- Converts a transaction id into a position of the feed. A restored database counts transactions from the start
-- again; the service then replaces this function by one that adds an offset (raise_event_positions).
create function event_transaction(id xid8) returns bigint language sql immutable strict parallel safe
  return id::text::bigint + 0;

-- Every transaction below the result has ended. Transactions of other databases cannot write events, so they
-- are ignored: a long one would delay the feed.
create function oldest_event_transaction() returns bigint language sql stable
begin atomic
  select event_transaction(coalesce(
    (select min(running.id)
       from pg_snapshot_xip(pg_current_snapshot()) as running (id)
      where not exists (select from pg_stat_activity as session
                          join pg_database as other on other.oid = session.datid
                         where session.backend_xid = running.id::xid and other.datname <> current_database())
        and not exists (select from pg_prepared_xacts as prepared
                         where prepared.transaction = running.id::xid
                           and prepared.database <> current_database())),
    pg_snapshot_xmax(pg_current_snapshot())));
end;

-- Events and deliveries grow without end, so both are partitioned by month. Their UUIDv7 ids are ordered by time,
-- which makes the id the partition key.
create table events (
  id uuid not null,
  asset_id uuid not null,
  owner_user_id text not null,
  type text not null,
  data jsonb not null,
  created_at timestamptz not null,
  -- Orders the events of an asset, whatever the clocks of the processes.
  revision int not null,
  -- With the id the position that clients resume from.
  transaction_id bigint not null default event_transaction(pg_current_xact_id()),
  -- Of the request or job that has caused the event, for the trace of its webhooks.
  traceparent text,
  primary key (asset_id, id)
) partition by range (id);
-- Finds events by time, whatever their asset: a resend to a webhook endpoint read whole partitions without it.
create index events_by_id on events (id);
create index events_by_owner on events (owner_user_id, transaction_id, id);
create index events_by_position on events (transaction_id, id);

create table deliveries (
  id uuid not null primary key,
  provider text not null,
  provider_video_id text,
  asset_id uuid,
  body bytea not null,
  headers jsonb not null,
  processed boolean not null,
  reason text not null,
  received_at timestamptz not null,
  -- Signed by our own encoder, which the body alone does not tell.
  is_own_encoder boolean not null default false,
  -- From its arrival until it was kept.
  latency_ms int not null default 0
) partition by range (id);
create index deliveries_by_asset on deliveries (asset_id, id) where asset_id is not null;
create index deliveries_unmatched on deliveries (provider, provider_video_id) where asset_id is null;
create index deliveries_by_provider on deliveries (provider, id);
create index deliveries_parked on deliveries (provider, provider_video_id, id) where reason = 'parked';

-- Rows of a wrong clock, or of a month whose partition is missing, are kept here rather than refused.
create table events_default partition of events default;
create table deliveries_default partition of deliveries default;

create function first_id_of(moment timestamptz) returns uuid language sql immutable strict as $$
  select (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Creates the partitions of this month and of the months ahead; returns how many were missing. Rows that came before
-- their partition move into it. Partitions are created and dropped under locks of whole tables, which writes of assets
-- need too. Behind a function that waits for a long reader, such as a backup, they would wait as well: the function
-- fails at once, and its job is retried.
-- Functions that change tables have the rights of their owner, so that the service itself needs none to do so.
create function create_month_partitions(months_ahead int) returns int language plpgsql
  security definer set search_path from current set lock_timeout = '200ms' as $$
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

select create_month_partitions(3);

-- Drops the months of a parent that ended before a time, and what lies in its default partition from before it; returns
-- how many months.
create function drop_month_partitions(parent text, before timestamptz) returns int language plpgsql
  security definer set search_path from current set lock_timeout = '200ms' as $$
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

-- Outbound webhooks -----------------------------------------------------------------------------------------------

create table webhook_endpoints (
  id uuid primary key,
  url text not null,
  -- Types of the events to send; empty: all.
  events text[] not null,
  description text,
  status text not null check (status in ('enabled', 'disabled', 'paused')),
  paused_reason text,
  paused_at timestamptz,
  -- The first failed attempt after the latest success.
  failing_since timestamptz,
  -- The latest failed attempt.
  failed_at timestamptz,
  -- Encrypted with a key that is derived from URL_SIGNING_SECRET.
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until timestamptz,
  -- Only events of later transactions are sent: the endpoint was created or enabled by this one.
  active_after bigint not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- Deliveries of an endpoint that is deleted stay until upkeep removes them: a cascade could take too long.
create table endpoint_deliveries (
  id uuid primary key,
  -- Orders the events of an asset for an endpoint.
  seq bigint generated always as identity,
  endpoint_id uuid not null,
  event_id uuid not null,
  asset_id uuid not null,
  type text not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  -- The next attempt; while one runs, the end of its lease. Null: completed, or behind another event of the asset.
  due_at timestamptz,
  lease_holder uuid,
  attempts jsonb not null default '[]',
  created_at timestamptz not null,
  completed_at timestamptz
) with (
  -- Rows change with every attempt: room on the page keeps those updates cheap.
  fillfactor = 80
);
create index endpoint_deliveries_by_endpoint on endpoint_deliveries (endpoint_id, id);
create index endpoint_deliveries_due on endpoint_deliveries (endpoint_id, due_at, seq) where due_at is not null;
create index endpoint_deliveries_leased on endpoint_deliveries (endpoint_id) where lease_holder is not null;
create index endpoint_deliveries_pending on endpoint_deliveries (endpoint_id, asset_id, seq) where state = 'pending';
create index endpoint_deliveries_by_asset on endpoint_deliveries (asset_id);
create unique index endpoint_deliveries_once on endpoint_deliveries (endpoint_id, event_id) where state = 'pending';

-- The last event for which deliveries were created. Whoever locks the row creates the next ones.
create table event_cursors (
  name text primary key,
  transaction_id bigint not null,
  event_id uuid not null
);
insert into event_cursors values ('webhooks', 0, '00000000-0000-0000-0000-000000000000');

-- Called at each start. Adds an offset if stored events, active endpoints or cursors lie in the future of this server's
-- transactions, and returns whether it did: after a restore their first events would be skipped.
create function raise_event_positions() returns boolean language plpgsql
  security definer set search_path from current as $$
declare
  newest bigint;
begin
  perform pg_advisory_xact_lock(7263418096);
  select greatest((select max(transaction_id) from events),
                  (select max(active_after) from webhook_endpoints),
                  (select max(transaction_id) from event_cursors))
    into newest;
  if newest < event_transaction(pg_snapshot_xmax(pg_current_snapshot())) then return false; end if;
  execute format(
    'create or replace function event_transaction(id xid8) returns bigint language sql immutable strict '
    'parallel safe return id::text::bigint + %s',
    newest + 1 - pg_snapshot_xmin(pg_current_snapshot())::text::bigint);
  return true;
end $$;

-- Uploads, imports and clips --------------------------------------------------------------------------------------

-- Every upload to the object store: a row exists while the upload can still finish, and for some time after it finished.
create table uploads (
  -- Names the object: originals/<asset>/<id>.
  id uuid primary key,
  asset_id uuid not null,
  owner_user_id text not null,
  -- A retry opens the next attempt of the asset: earlier uploads cannot finish any more.
  attempt int not null,
  protocol text not null check (protocol in ('put', 'tus', 's3-multipart', 'import', 'clip', 'hosted')),
  -- What the protocol needs to go on, for example the id of a multipart upload in the store.
  target jsonb,
  -- Null until it is known.
  size_bytes bigint,
  -- Durable bytes. The offset of a resumable upload.
  bytes_received bigint not null default 0,
  -- The request that writes now; it must hold the lease to write, and to finish the upload.
  lease_holder uuid,
  lease_until timestamptz,
  -- Another request waits for the lease: the holder ends.
  is_release_requested boolean not null default false,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  finished_at timestamptz,
  -- The part of the asset's announced size that the asset reserved when the upload was opened: it is counted already.
  reserved_bytes bigint not null default 0,
  -- 'partial': never becomes the original by itself. 'final': consists of partial uploads. Null: a whole file.
  concatenation text check (concatenation in ('partial', 'final')),
  -- The partial uploads of a final one, in their order: ids and sizes. They may be gone already.
  parts jsonb,
  constraint uploads_parts check ((parts is not null) = (concatenation is not distinct from 'final'))
);
create index uploads_asset on uploads (asset_id);
create index uploads_expiry on uploads (expires_at);
create unique index uploads_one_writer on uploads (asset_id, attempt)
  where protocol in ('put', 'import', 'clip') and finished_at is null;
create index uploads_open_bytes on uploads (owner_user_id) where finished_at is null and bytes_received > 0;

-- The bytes of a hosted upload never pass the service: it ends when its asset leaves `pending_upload` or is purged.
create function end_hosted_upload() returns trigger language plpgsql as $$
begin
  if new.deleted_at is null and new.stream_status in ('processing', 'ready') then
    update uploads
       set finished_at = new.updated_at, size_bytes = coalesce(new.size_bytes, size_bytes),
           bytes_received = coalesce(new.size_bytes, 0)
     where asset_id = new.id and attempt = new.attempt and protocol = 'hosted' and finished_at is null;
  else
    delete from uploads where asset_id = new.id and protocol = 'hosted' and finished_at is null;
  end if;
  return null;
end $$;

create trigger assets_end_hosted_upload after update on assets for each row
  when (old.provider_video_id is not null and old.stream_status = 'pending_upload'
    and (new.stream_status <> 'pending_upload' or new.deleted_at is not null and new.purge_at is null))
  execute function end_hosted_upload();

-- Where an import reads its file. The URL and its headers may hold credentials, so the row goes when the import ends.
create table imports (
  asset_id uuid primary key,
  -- Of an adoption `s3:` or `file:`, else http or https.
  url text not null,
  headers jsonb not null,
  -- Of an adoption: whether its source is deleted once the asset has it.
  deletes_source boolean not null default false,
  -- The attempt that the latest run belongs to, how many runs it has had, and the upload that the latest one stores.
  attempt int not null default 1,
  runs int not null default 0,
  upload_id uuid,
  -- Until then `retry` can import a failed asset again.
  expires_at timestamptz not null,
  -- The upload to a hosted provider that a later run continues, with the headers that it needs; null before it is open,
  -- and where none can be continued.
  transfer jsonb,
  -- The progress of the attempt that the timeline has shown, so that it does not fall when a run starts again.
  progress_bytes bigint not null default 0,
  -- The upload that holds the bytes so far, and what the server must confirm to continue; null where it cannot.
  partial jsonb,
  -- How long earlier runs of the attempt held a slot before they gave it back.
  held_ms bigint not null default 0
);
create index imports_expired on imports (expires_at);

create function end_import() returns trigger language plpgsql as $$
begin
  delete from imports where asset_id = new.id;
  return null;
end $$;

-- In the transaction that ends the import. Failed imports may be retried, so the service decides about them.
create trigger assets_end_import after update on assets for each row
  when ((old.deleted_at is null and new.deleted_at is not null)
     or (old.stream_status = 'pending_upload' and new.stream_status in ('processing', 'ready')))
  execute function end_import();

-- Clips that are not cut yet.
create table clips (
  asset_id uuid primary key,
  -- The attempt of the latest run, its number in the attempt, and the upload that it stores.
  attempt int not null default 1,
  runs int not null default 0,
  upload_id uuid
);

create function end_clip() returns trigger language plpgsql as $$
begin
  delete from clips where asset_id = new.id;
  return null;
end $$;

-- In the transaction that ends the cut. Failed clips may be retried, so they keep their row.
create trigger assets_end_clip after update on assets for each row
  when (new.clip_of is not null
    and ((old.deleted_at is null and new.deleted_at is not null)
      or (old.stream_status = 'pending_upload' and new.stream_status in ('processing', 'ready'))))
  execute function end_clip();

-- Encodes ---------------------------------------------------------------------------------------------------------

-- Which worker encodes an asset now. The row goes when the run ends; a run whose worker died is replaced by the next one.
create table encode_runs (
  asset_id uuid primary key,
  attempt int not null,
  run int not null,
  worker text not null,
  started_at timestamptz not null default now(),
  -- 0: the worker of the first phase; else the claim of the checkpoint.
  claim int not null default 0
);

-- A video that is playable and lacks renditions, until a worker continues its run and ends it.
create table encode_checkpoints (
  asset_id uuid primary key,
  attempt int not null,
  run int not null,
  -- JSON. Text, because names of streams may contain characters that jsonb refuses.
  checkpoint text not null,
  -- Counts the workers that continue the run. Only the latest may end it.
  claims int not null default 0,
  -- Workers that a stopping process, a full disk or an unavailable store ended: they are no crashes.
  interruptions int not null default 0,
  -- The last files of the run are being stored: another worker cannot continue it, because objects are never overwritten.
  is_storing boolean not null default false
);

-- Parts of a long video that any worker encodes for the run that owns them. The rows are deleted when the run ends.
create table encode_chunks (
  asset_id uuid not null,
  attempt int not null,
  run int not null,
  -- Counts the ffmpeg runs of the plan; the chunks of one of them join to its renditions.
  batch int not null,
  number int not null,
  -- What to encode.
  spec jsonb not null,
  -- A chunk that is refused keeps its row until the attempt ends: its next run encodes the video in one piece.
  state text not null default 'waiting' check (state in ('waiting', 'done', 'failed', 'refused')),
  claims int not null default 0,
  worker text,
  -- SHA-256 of the init segments, which are the same in all chunks of a batch.
  init_digest text,
  -- The segments of a chunk that is done, or the failure.
  result jsonb,
  primary key (asset_id, attempt, run, batch, number)
);

-- An encode that waits for space on the disk of a worker. Rows that are not renewed are out of date.
create table encode_waits (
  asset_id uuid primary key,
  attempt int not null,
  worker text not null,
  needed_bytes bigint not null,
  free_bytes bigint not null,
  since timestamptz not null default now(),
  checked_at timestamptz not null default now()
);

-- How much work lay before each encode when it was first seen, and how long it took: later estimates follow from it.
-- Work is in millions of pixels. Rows of the latest encodes are kept.
create table encode_estimates (
  asset_id uuid primary key,
  attempt int not null,
  -- Long videos have slots of their own.
  is_long boolean not null,
  -- Null: the video played already.
  playable_work bigint,
  ready_work bigint not null,
  made_at timestamptz not null default now(),
  -- The end of the range that callers saw.
  latest_ready_at timestamptz not null,
  -- When upkeep looks at an encode that has not ended.
  delayed_after timestamptz not null,
  -- Since `made_at`; null while the encode goes on.
  playable_ms bigint,
  ready_ms bigint,
  ended_at timestamptz
);
create index encode_estimates_ended on encode_estimates (is_long, ended_at desc) where ended_at is not null;
create index encode_estimates_overdue on encode_estimates (delayed_after) where ended_at is null;

-- The indexes of encode runs that have not ended: they grow with each segment, and objects are never overwritten.
create table growing_indexes (
  asset_id uuid not null,
  -- `<attempt>-<run>` below the asset's renditions.
  folder text not null,
  -- Grows with each index of the run.
  revision int not null default 1,
  -- As in `index.json`.
  body text not null,
  primary key (asset_id, folder)
);

-- The job of an asset at the operator's own encoder (ONPREM_ENCODER_URL).
create table encoder_jobs (
  asset_id uuid primary key,
  attempt int not null,
  -- How often the encoder was asked for this attempt without a sign of life in between.
  requests int not null default 1,
  accepted_at timestamptz not null default now(),
  deadline timestamptz not null,
  -- Where the encoder shows the job, if it said so.
  job_url text
);

-- The processes of the service, also those without jobs. Each renews its row; a row that is not renewed belongs to a
-- process that ended, and is deleted a day later. Renewed so often that it is not logged: after a crash the processes
-- write their rows again.
create unlogged table workers (
  id uuid primary key,
  -- Host name and process id.
  host text not null default '',
  roles text[] not null,
  version text not null,
  -- Providers whose videos the process can work on: its settings contain what the provider's API needs.
  providers text[] not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  -- What a worker encodes videos with: x264, or the hardware encoder whose trial succeeded.
  video_encoder text,
  -- How far the clock of a worker is ahead of the database's, measured at its last heartbeat.
  clock_skew_ms bigint not null default 0,
  -- Null until it was read.
  scratch_free_bytes bigint,
  -- How many encodes of a kind it runs at once.
  encode_slots int not null default 0,
  -- Protection of the sandbox → whether it is active.
  protections jsonb not null default '{}',
  -- The runs at its last heartbeat.
  running_jobs jsonb not null default '[]',
  -- Provider → the circuit breaker of this process.
  circuits jsonb not null default '{}',
  -- Set by operators: the process takes no further job.
  is_draining boolean not null default false,
  -- When it stopped by itself.
  stopped_at timestamptz
);

-- What was counted and measured in a minute. `host` is a process; '*' stands for all processes, '' for the database.
-- Rows are deleted after SAMPLE_RETENTION_H: some 700 kB for each process and day.
create table samples (
  host text not null,
  at timestamptz not null,
  values jsonb not null,
  primary key (host, at)
);
create index samples_by_time on samples (at);

-- Usage and limits ------------------------------------------------------------------------------------------------

-- Owners under a quota have a row; of others nothing is counted. Kept by triggers in the transaction that changes an asset.
create table owner_usage (
  owner_user_id text primary key,
  assets bigint not null,
  bytes bigint not null,
  pending bigint not null,
  -- This owner's limits in place of the settings', such as {"bytes": 1000, "assets": null}: null is no limit, an omitted
  -- member is the setting.
  overrides jsonb not null default '{}'
) with (fillfactor = 50);

-- The limits of owners without limits of their own, for all processes: imports and clips are stored by workers, which
-- have no such settings. Every process with an API writes its settings here when it starts. Null: no limit.
create table default_owner_limits (
  name text primary key,
  max_value bigint
);

-- One token bucket for each owner or address: when it will be full again, and how many tokens the last request batch
-- got. A crash may empty it.
create unlogged table rate_limits (
  key text primary key,
  full_at timestamptz not null,
  granted int not null
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

-- A linked video has no upload to wait for, hence no expiry.
create function counted_pending(deleted_at timestamptz, stream_status text, upload_expires_at timestamptz) returns int language sql immutable as $$
  select case when deleted_at is null and stream_status = 'pending_upload' and upload_expires_at is not null then 1 else 0 end
$$;

-- Bytes of open uploads beyond what their assets reserved.
create function recount_open_uploads(owner text) returns bigint language sql stable as $$
  select coalesce(sum(greatest(received - reserved, 0)), 0)::bigint
    from (select sum(bytes_received) as received, max(reserved_bytes) as reserved
            from uploads where owner_user_id = owner and finished_at is null and bytes_received > 0
           group by asset_id, attempt) as opened
$$;

create function recount_owner_usage(owner text, out assets bigint, out bytes bigint, out pending bigint) language sql stable as $$
  select count(*),
         coalesce(sum(counted_bytes(deleted_at, purge_at, refused, uploaded_at, size_bytes, announced_size_bytes)
                      + counted_captions(deleted_at, purge_at, captions, false)), 0)::bigint + recount_open_uploads(owner),
         coalesce(sum(counted_pending(deleted_at, stream_status, upload_expires_at)), 0)::bigint
    from assets where owner_user_id = owner and (deleted_at is null or purge_at is not null)
$$;

-- What each owner stores, also those without a quota, as a job counted it.
create table owner_totals (
  owner_user_id text primary key,
  assets bigint not null,
  bytes bigint not null,
  pending bigint not null,
  counted_at timestamptz not null default now()
);
create index owner_totals_by_bytes on owner_totals (bytes desc, owner_user_id);
create index owner_totals_by_assets on owner_totals (assets desc, owner_user_id);
create index owner_totals_by_text on owner_totals using gin (lower(owner_user_id) gin_trgm_ops);

-- The latest count of all owners.
create table owner_counts (
  is_only boolean primary key default true check (is_only),
  started_at timestamptz not null,
  ended_at timestamptz not null
);

-- The owner with the next id that has assets, including the trash.
create function next_owner(after text) returns text language sql stable as $$
  select least(
    (select owner_user_id from assets where owner_user_id > after and deleted_at is null order by owner_user_id limit 1),
    (select owner_user_id from assets where owner_user_id > after and purge_at is not null order by owner_user_id limit 1))
$$;

-- Counts the newest assets of an owner, including the trash, that are older than `after_id`.
create function count_owner_assets(owner text, after_id uuid, max_assets int, out assets bigint, out bytes bigint, out pending bigint, out last_id uuid) language sql stable as $$
  select count(*),
         coalesce(sum(counted_bytes(deleted_at, purge_at, refused, uploaded_at, size_bytes, announced_size_bytes)
                      + counted_captions(deleted_at, purge_at, captions, false)), 0)::bigint,
         coalesce(sum(counted_pending(deleted_at, stream_status, upload_expires_at)), 0)::bigint,
         (array_agg(id order by id))[1]
    from (select * from (
            (select * from assets as living where owner_user_id = owner and deleted_at is null
                and id < coalesce(after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff') order by id desc limit max_assets)
             union all
            (select * from assets as trashed where owner_user_id = owner and purge_at is not null
                and id < coalesce(after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff') order by id desc limit max_assets)) as kept
           order by id desc limit max_assets) as counted
$$;

-- The limit in force. In PL/pgSQL, which keeps the plan of the query. `field`: assets, bytes or pending.
create function owner_limit(overrides jsonb, field text) returns bigint language plpgsql stable as $$
begin
  if overrides ? field then
    return (overrides ->> field)::bigint;
  end if;
  return (select max_value from default_owner_limits where name = field);
end $$;

-- Writers share the lock of an owner's bucket, whoever starts to count takes it alone: the count misses no transaction
-- that is in progress.
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

-- Error MQ001: limits are in force and the owner is not counted yet. Error MQ002: over a limit. Lower usage is never
-- refused. The row lock makes limits exact.
create function apply_owner_usage(owner text, more_assets bigint, more_bytes bigint, more_pending bigint, is_enforced boolean)
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

-- Owners are locked in one order everywhere, so that two statements never wait for each other.
create function count_new_assets() returns trigger language plpgsql as $$
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

-- Limits hold for what callers do: opening an upload again, recording bytes, and storing captions. What a provider
-- reports, and captions that an encoder finds in a stored video, are never refused.
create function count_changed_assets() returns trigger language plpgsql as $$
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

create function count_removed_assets() returns trigger language plpgsql as $$
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

create trigger count_new_assets after insert on assets
  referencing new table as after_rows for each statement execute function count_new_assets();
create trigger count_changed_assets after update on assets
  referencing old table as before_rows new table as after_rows for each statement execute function count_changed_assets();
create trigger count_removed_assets after delete on assets
  referencing old table as before_rows for each statement execute function count_removed_assets();

-- Erasures of owners ----------------------------------------------------------------------------------------------

-- Removes everything of an owner. The row and its items are the receipt, which outlives the owner.
create table owner_erasures (
  id uuid primary key,
  -- Null when the erasure is completed.
  owner_user_id text,
  -- SHA-256 of `<id>:<owner_user_id>`.
  owner_sha256 text not null,
  phase text not null default 'closing' check (phase in ('closing', 'removing', 'verifying', 'completed')),
  -- Videos at providers are left there: the operator has no access any more.
  leaves_videos boolean not null default false,
  -- What the last pass over the items had to wait for.
  waiting jsonb not null default '[]',
  requested_at timestamptz not null default now(),
  completed_at timestamptz,
  -- The signed text of the receipt, when completed.
  statement text,
  signature text,
  public_key text
);
create unique index owner_erasures_running on owner_erasures (owner_user_id) where owner_user_id is not null;

create table owner_erasure_items (
  erasure_id uuid not null references owner_erasures on delete cascade,
  -- An asset; the UUID of zeros for the rows of the owner that belong to none.
  asset_id uuid not null,
  provider text,
  provider_video_id text,
  -- The provider confirmed that it has no copy any more.
  video_removed_at timestamptz,
  video_error text,
  -- Until then a presigned URL can store an upload.
  uploads_end timestamptz,
  objects_removed_at timestamptz,
  -- Kind of thing → how many were removed.
  removed jsonb not null default '{}',
  confirmed_at timestamptz,
  primary key (erasure_id, asset_id)
);
create index owner_erasure_items_open on owner_erasure_items (erasure_id, asset_id) where confirmed_at is null;
-- Webhooks of erased assets that come late are not recorded.
create index owner_erasure_items_by_asset on owner_erasure_items (asset_id);
create index owner_erasure_items_by_video on owner_erasure_items (provider, provider_video_id)
  where provider_video_id is not null;

-- Error MQ003: nothing new is created for an owner during an erasure. Runs after `count_new_assets`, which shares the
-- lock of the owner's bucket; whoever starts an erasure takes it alone, so no transaction in progress is missed.
create function refuse_erased_owners() returns trigger language plpgsql as $$
begin
  if exists (select from owner_erasures where owner_user_id in (select owner_user_id from after_rows)) then
    raise exception 'owner is being erased' using errcode = 'MQ003';
  end if;
  return null;
end $$;

create trigger refuse_erased_owners after insert on assets
  referencing new table as after_rows for each statement execute function refuse_erased_owners();

-- Collections -----------------------------------------------------------------------------------------------------

-- Named, ordered lists of assets of one owner. Whoever changes the assets of a collection locks its row.
create table collections (
  id uuid primary key,
  owner_user_id text not null,
  name text not null,
  description text,
  visibility text not null check (visibility in ('private', 'public')),
  metadata jsonb,
  -- Raised when all positions of the collection are written again.
  numbering int not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index collections_by_owner on collections (owner_user_id, id desc);

-- Positions have gaps, so that a move writes one row. An asset in the trash keeps its place.
create table collection_items (
  collection_id uuid not null references collections on delete cascade,
  asset_id uuid not null references assets on delete cascade,
  position bigint not null,
  added_at timestamptz not null,
  primary key (collection_id, asset_id)
);
create index collection_items_in_order on collection_items (collection_id, position, asset_id);
create index collection_items_by_asset on collection_items (asset_id, collection_id desc);

-- An asset that is deleted for good leaves its collections in the statement of its deletion.
create function leave_collections() returns trigger language plpgsql as $$
begin
  delete from collection_items where asset_id = new.id;
  return null;
end $$;

create trigger assets_leave_collections after update of deleted_at, purge_at on assets for each row
  when (new.deleted_at is not null and new.purge_at is null)
  execute function leave_collections();

-- Secrets, keys and tokens ----------------------------------------------------------------------------------------

-- Secrets that the service generated because none was given.
create table secrets (
  name text primary key,
  value text not null,
  created_at timestamptz not null default now()
);

-- Named service keys beside SERVICE_API_KEY. The keys themselves are random and long, so a plain SHA-256 of each
-- is enough to find it and reveals nothing.
create table service_keys (
  id uuid primary key,
  name text not null,
  key_hash text not null,
  -- The last characters of the key, for people.
  key_hint text not null,
  -- The key before the last rotation.
  previous_hash text,
  previous_expires_at timestamptz,
  scopes text[] not null,
  -- Empty: all owners.
  owner_prefixes text[] not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null,
  revoked_at timestamptz
);
create unique index service_keys_name on service_keys (name) where revoked_at is null;

-- Tokens that a back end gives to browsers: each may create a bounded number of uploads of one owner.
create table upload_tokens (
  id uuid primary key,
  owner_user_id text not null,
  max_uploads int not null,
  uploads int not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index upload_tokens_by_expiry on upload_tokens (expires_at);

-- The assets that a token created, which its holder may read and complete.
create table upload_token_assets (
  asset_id uuid primary key,
  token_id uuid not null references upload_tokens on delete cascade
);
create index upload_token_assets_by_token on upload_token_assets (token_id);

-- Sessions of the console. The token is in a cookie; the row has its hash.
create table console_sessions (
  token_hash text primary key,
  kind text not null check (kind in ('operator', 'service', 'user')),
  -- Who signed in, for the limit of sessions.
  subject text not null,
  owner_user_id text,
  service_key_id uuid,
  -- Of an operator key or SERVICE_API_KEY: the session ends when the key is replaced.
  key_digest text,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index console_sessions_by_subject on console_sessions (subject, created_at desc, token_hash);
create index console_sessions_by_expiry on console_sessions (expires_at);

-- Codes of sign-in links. Each works once.
create table console_codes (
  code_hash text primary key,
  expires_at timestamptz not null
);
create index console_codes_by_expiry on console_codes (expires_at);
