-- An encode that waits for space on the disk of a worker. Rows that are not renewed are out of date.
create table encode_waits (
  asset_id uuid primary key,
  attempt int not null,
  worker text not null,
  needed_bytes bigint not null,
  free_bytes bigint not null,
  since timestamptz not null default now(),
  checked_at timestamptz not null default now()
);

-- The job of an asset at the operator's own encoder (ONPREM_ENCODER_URL).
create table encoder_jobs (
  asset_id uuid primary key,
  attempt int not null,
  -- How often the encoder was asked for this attempt without a sign of life in between.
  requests int not null default 1,
  accepted_at timestamptz not null default now(),
  deadline timestamptz not null,
  -- Where the encoder shows the job, if it said so.
  job_url text
);

-- What a worker encodes videos with: x264, or the hardware encoder whose trial succeeded.
alter table workers add column video_encoder text;
