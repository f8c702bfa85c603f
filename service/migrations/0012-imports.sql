-- Where an import reads its file. The URL and its headers may hold credentials, so the row goes when the import ends.
create table imports (
  asset_id uuid primary key,
  url text not null,
  headers jsonb not null,
  -- The attempt that the latest run belongs to, how many runs it has had, and the upload that the latest one stores.
  attempt int not null default 1,
  runs int not null default 0,
  upload_id uuid,
  -- Until then `retry` can import a failed asset again.
  expires_at timestamptz not null
);
create index imports_expired on imports (expires_at);

create function end_import() returns trigger language plpgsql as $$
begin
  delete from imports where asset_id = new.id;
  return null;
end $$;

-- In the transaction that ends the import. Failed imports may be retried, so the service decides about them.
create trigger assets_end_import after update on assets for each row
  when ((old.deleted_at is null and new.deleted_at is not null)
     or (old.stream_status = 'pending_upload' and new.stream_status in ('processing', 'ready')))
  execute function end_import();
