-- Parts of a long video that any worker encodes for the run that owns them. The rows are deleted when the run ends.
create table encode_chunks (
  asset_id uuid not null,
  attempt int not null,
  try int not null,
  -- Counts the ffmpeg runs of the plan; the chunks of one of them join to its renditions.
  batch int not null,
  number int not null,
  -- What to encode.
  spec jsonb not null,
  -- A chunk that is refused keeps its row until the attempt ends: its next run encodes the video in one piece.
  state text not null default 'waiting' check (state in ('waiting', 'done', 'failed', 'refused')),
  tries int not null default 0,
  worker text,
  -- SHA-256 of the init segments, which are the same in all chunks of a batch.
  init_digest text,
  -- The segments of a chunk that is done, or the failure.
  result jsonb,
  primary key (asset_id, attempt, try, batch, number)
);
