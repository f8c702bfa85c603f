-- Finds the assets with the same bytes by one expression, which no other index has. With the two columns as
-- conditions, PostgreSQL read all assets of an owner whenever it took each owner for a small one.
create index assets_by_bytes on assets ((owner_user_id || ' ' || checksum_sha256), id)
  where uploaded_at is not null and deleted_at is null;
drop index assets_by_checksum;
