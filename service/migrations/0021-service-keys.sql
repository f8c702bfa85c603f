-- Named service keys beside SERVICE_API_KEY. The keys themselves are random and long, so a plain SHA-256 of each
-- is enough to find it and reveals nothing.
create table service_keys (
  id uuid primary key,
  name text not null,
  key_hash text not null,
  -- The last characters of the key, for people.
  key_hint text not null,
  -- The key before the last rotation.
  previous_hash text,
  previous_expires_at timestamptz,
  scopes text[] not null,
  -- Empty: all owners.
  owner_prefixes text[] not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null,
  revoked_at timestamptz
);

create unique index service_keys_name on service_keys (name) where revoked_at is null;
