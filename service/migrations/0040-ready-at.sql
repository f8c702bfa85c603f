-- `completed_at` had the name of the request `complete`, which does not set it.
alter table assets rename column completed_at to ready_at;
