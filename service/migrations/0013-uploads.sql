-- Every upload to the object store: a row exists while the upload can still finish, and for some time after it finished.
create table uploads (
  -- Names the object: originals/<asset>/<id>.
  id uuid primary key,
  asset_id uuid not null,
  owner_user_id text not null,
  -- A retry opens the next attempt of the asset: earlier uploads cannot finish any more.
  attempt int not null,
  protocol text not null check (protocol in ('put', 'tus')),
  -- What the protocol needs to go on, for example the id of a multipart upload in the store.
  target jsonb,
  -- Null until it is known.
  size_bytes bigint,
  -- Durable bytes. The offset of a resumable upload.
  bytes_received bigint not null default 0,
  -- State of the SHA-256 of these bytes.
  checksum_state bytea,
  -- The request that writes now; it must hold the lease to write, and to finish the upload.
  lease_holder uuid,
  lease_until timestamptz,
  -- Another request waits for the lease: the holder ends.
  is_release_requested boolean not null default false,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  finished_at timestamptz
);
create index uploads_asset on uploads (asset_id);
create index uploads_expiry on uploads (expires_at);
create unique index uploads_one_put on uploads (asset_id, attempt) where protocol = 'put' and finished_at is null;

alter table assets drop column upload_writer, drop column upload_writer_until;
