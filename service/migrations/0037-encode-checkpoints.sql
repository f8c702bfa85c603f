-- A video that is playable and lacks renditions, until a worker continues its run and ends it.
create table encode_checkpoints (
  asset_id uuid primary key,
  attempt int not null,
  try int not null,
  -- JSON. Text, because names of streams may contain characters that jsonb refuses.
  checkpoint text not null,
  -- Counts the workers that continue the run. Only the latest may end it.
  claims int not null default 0,
  -- Workers that a stopping process, a full disk or an unavailable store ended: they are no crashes.
  interruptions int not null default 0,
  -- The last files of the run are being stored: another worker cannot continue it, because objects are never overwritten.
  is_storing boolean not null default false
);

-- 0: the worker of the first phase; else the claim of the checkpoint.
alter table encode_runs add column claim int not null default 0;
