-- Outbound webhooks: where callers receive events, and every delivery to them.

create table webhook_endpoints (
  id uuid primary key,
  url text not null,
  -- Types of the events to send; empty: all.
  events text[] not null,
  description text,
  status text not null check (status in ('enabled', 'disabled', 'paused')),
  paused_reason text,
  paused_at timestamptz,
  -- The first failed attempt after the latest success.
  failing_since timestamptz,
  -- The latest failed attempt.
  failed_at timestamptz,
  -- Encrypted with a key that is derived from URL_SIGNING_SECRET.
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until timestamptz,
  -- Only events of later transactions are sent: the endpoint was created or enabled by this one.
  active_after bigint not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- Deliveries of an endpoint that is deleted stay until upkeep removes them: a cascade could take too long.
create table endpoint_deliveries (
  id uuid primary key,
  -- Orders the events of an asset for an endpoint.
  seq bigint generated always as identity,
  endpoint_id uuid not null,
  event_id uuid not null,
  asset_id uuid not null,
  type text not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  -- The next attempt; while one runs, the end of its lease. Null: completed, or behind another event of the asset.
  due_at timestamptz,
  lease_holder uuid,
  attempts jsonb not null default '[]',
  created_at timestamptz not null,
  completed_at timestamptz
);
-- Rows change with every attempt: room on the page keeps those updates cheap.
alter table endpoint_deliveries set (fillfactor = 80);
create index endpoint_deliveries_by_endpoint on endpoint_deliveries (endpoint_id, id);
create index endpoint_deliveries_due on endpoint_deliveries (endpoint_id, due_at, seq) where due_at is not null;
create index endpoint_deliveries_leased on endpoint_deliveries (endpoint_id) where lease_holder is not null;
create index endpoint_deliveries_pending on endpoint_deliveries (endpoint_id, asset_id, seq) where state = 'pending';
create unique index endpoint_deliveries_once on endpoint_deliveries (endpoint_id, event_id) where state = 'pending';

-- The last event for which deliveries were created. Whoever locks the row creates the next ones.
create table event_cursors (
  name text primary key,
  transaction_id bigint not null,
  event_id uuid not null
);
insert into event_cursors values ('webhooks', 0, '00000000-0000-0000-0000-000000000000');
