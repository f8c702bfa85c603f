-- Assets that have the same bytes as an earlier one of their owner.

-- Set when the bytes are stored, and kept when the earlier asset is deleted.
alter table assets add column duplicate_of uuid;

-- The stored bytes of an owner by their digest.
create index assets_by_checksum on assets (owner_user_id, checksum_sha256, id)
  where uploaded_at is not null and deleted_at is null;
