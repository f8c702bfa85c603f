-- The second step of an import to a hosted provider: the stored bytes go to an upload there.
alter table imports
  -- The upload that a later run continues, with the headers that it needs; null before it is open, and where none can be continued.
  add column transfer jsonb,
  -- The progress of the attempt that the timeline has shown, so that it does not fall when a run starts again.
  add column progress_bytes bigint not null default 0;
