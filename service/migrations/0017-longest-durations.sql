-- The longest video that the caller announced for an upload, for providers that reserve storage for it.
alter table assets add column max_duration_s int;
