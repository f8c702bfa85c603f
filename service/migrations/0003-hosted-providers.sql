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
