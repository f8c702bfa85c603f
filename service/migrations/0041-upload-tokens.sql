-- Tokens that a back end gives to browsers: each may create a bounded number of uploads of one owner.
create table upload_tokens (
  id uuid primary key,
  owner_user_id text not null,
  max_uploads int not null,
  uploads int not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index upload_tokens_by_expiry on upload_tokens (expires_at);

-- The assets that a token created, which its holder may read and complete.
create table upload_token_assets (
  asset_id uuid primary key,
  token_id uuid not null references upload_tokens on delete cascade
);
create index upload_token_assets_by_token on upload_token_assets (token_id);
