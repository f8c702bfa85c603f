-- The asset that a clip was cut from, and the part in milliseconds; it stays when that asset goes.
alter table assets add column clip_of jsonb;

-- Clips that are not cut yet.
create table clips (
  asset_id uuid primary key,
  -- The attempt of the latest run, its number in the attempt, and the upload that it stores.
  attempt int not null default 1,
  runs int not null default 0,
  upload_id uuid
);

create function end_clip() returns trigger language plpgsql as $$
begin
  delete from clips where asset_id = new.id;
  return null;
end $$;

-- In the transaction that ends the cut. Failed clips may be retried, so they keep their row.
create trigger assets_end_clip after update on assets for each row
  when (new.clip_of is not null
    and ((old.deleted_at is null and new.deleted_at is not null)
      or (old.stream_status = 'pending_upload' and new.stream_status in ('processing', 'ready'))))
  execute function end_clip();

alter table uploads
  drop constraint uploads_protocol_check,
  add constraint uploads_protocol_check
    check (protocol in ('put', 'tus', 's3-multipart', 'import', 'clip', 'hosted'));

drop index uploads_one_writer;
create unique index uploads_one_writer on uploads (asset_id, attempt)
  where protocol in ('put', 'import', 'clip') and finished_at is null;
