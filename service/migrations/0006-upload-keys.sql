-- Which upload's object is the original: originals/<asset>/<upload>. Null for originals stored before this release, at originals/<asset>/original.
alter table assets add column original_upload uuid;
