-- Lists by every filter, a trash, and uploads that expire.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- Until when a removed asset can be restored; null for one that is gone for good.
alter table assets add column purge_at timestamptz;

create index assets_by_kind on assets (owner_user_id, kind, id desc) where deleted_at is null;
create index assets_by_status on assets (owner_user_id, stream_status, id desc) where deleted_at is null;
create index assets_by_provider on assets (owner_user_id, provider, id desc) where deleted_at is null;
create index assets_by_tag on assets using gin (owner_user_id, tags) where deleted_at is null;
create index assets_by_text on assets using gin (owner_user_id, lower(coalesce(title, '') || ' ' || filename) gin_trgm_ops) where deleted_at is null;

create index assets_in_trash on assets (owner_user_id, id desc) where purge_at is not null;
create index assets_to_purge on assets (purge_at) where purge_at is not null;
create index assets_to_expire on assets (upload_expires_at) where stream_status = 'pending_upload' and upload_expires_at is not null and deleted_at is null;

-- The first answer to a request with an Idempotency-Key, given again to the next one with the same key.
create table idempotency_keys (
  caller text not null,
  key text not null,
  fingerprint text not null,
  made_id uuid not null,
  answer jsonb,
  busy_by uuid,
  busy_until timestamptz,
  created_at timestamptz not null default now(),
  primary key (caller, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
