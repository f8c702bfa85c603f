-- Which worker encodes an asset now. The row goes when the run ends; a run whose worker died is replaced by the next one.
create table encode_runs (
  asset_id uuid primary key,
  attempt int not null,
  try int not null,
  worker text not null,
  started_at timestamptz not null default now()
);
