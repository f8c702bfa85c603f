-- Imports and uploads to hosted providers are rows of `uploads` too. Uploads to a provider that are open now get none.
alter table uploads
  drop constraint uploads_protocol_check,
  add constraint uploads_protocol_check check (protocol in ('put', 'tus', 's3-multipart', 'import', 'hosted'));

drop index uploads_one_put;
create unique index uploads_one_writer on uploads (asset_id, attempt)
  where protocol in ('put', 'import') and finished_at is null;

-- The bytes of a hosted upload never pass the service: it ends when its asset leaves `pending_upload` or is purged.
create function end_hosted_upload() returns trigger language plpgsql as $$
begin
  if new.deleted_at is null and new.stream_status in ('processing', 'ready') then
    update uploads
       set finished_at = new.updated_at, size_bytes = coalesce(new.size_bytes, size_bytes),
           bytes_received = coalesce(new.size_bytes, 0)
     where asset_id = new.id and attempt = new.attempt and protocol = 'hosted' and finished_at is null;
  else
    delete from uploads where asset_id = new.id and protocol = 'hosted' and finished_at is null;
  end if;
  return null;
end $$;

create trigger assets_end_hosted_upload after update on assets for each row
  when (old.provider_video_id is not null and old.stream_status = 'pending_upload'
    and (new.stream_status <> 'pending_upload' or new.deleted_at is not null and new.purge_at is null))
  execute function end_hosted_upload();
