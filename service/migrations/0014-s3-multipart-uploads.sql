-- Uploads that clients send to an S3 store in parts; `target` holds the id of the upload in the store.
alter table uploads
  drop constraint uploads_protocol_check,
  add constraint uploads_protocol_check check (protocol in ('put', 'tus', 's3-multipart'));
