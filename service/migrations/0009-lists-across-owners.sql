-- Lists across owners, for operators: one walk along an index for each filter that can be rare. A kind and an unfiltered list walk the primary key.
create index assets_all_by_status on assets (stream_status, id desc) where deleted_at is null;
create index assets_all_by_provider on assets (provider, id desc) where deleted_at is null;
create index assets_all_by_tag on assets using gin (tags) where deleted_at is null;
create index assets_all_by_text on assets using gin (lower(coalesce(title, '') || ' ' || filename) gin_trgm_ops) where deleted_at is null;
create index assets_all_in_trash on assets (id desc) where purge_at is not null;

-- What the service refused can be uploaded again by POST /api/v1/media/{id}/retry.
update assets set failure = jsonb_set(failure, '{retryable}', 'true') where refused and failure is not null;
