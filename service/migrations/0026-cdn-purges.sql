-- The files of assets that a CDN has to purge. Every raise of an asset's playback version is at most one purge. Rows
-- outlive their assets and are deleted after the retention of webhooks.
create table cdn_purges (
  asset_id uuid not null,
  playback_version int not null,
  reason text not null check (reason in ('deleted', 'made_private', 'revoked')),
  -- Of the URLs to purge.
  prefix text not null,
  attempts int not null default 0,
  last_error text,
  created_at timestamptz not null,
  delivered_at timestamptz,
  primary key (asset_id, playback_version)
);
create index cdn_purges_newest on cdn_purges (created_at desc);
