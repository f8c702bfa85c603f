-- Captions of a video. A column, so that one statement publishes them with their event, and players need no more reads.
alter table assets add column captions jsonb;
