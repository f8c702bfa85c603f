-- The processes that run jobs. Each renews its row; a row that is not renewed belongs to a process that ended.
create table workers (
  id uuid primary key,
  roles text[] not null,
  version text not null,
  -- Providers whose videos the process can work on: its settings contain what the provider's API needs.
  providers text[] not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);
