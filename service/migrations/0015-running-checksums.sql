-- The SHA-256 of a running upload is in the memory of its process; another process reads the bytes again.
-- A process of the release before would continue from a state that newer processes do not update: without the
-- column its resumable requests fail, and clients repeat them.
alter table uploads drop column checksum_state;
