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
