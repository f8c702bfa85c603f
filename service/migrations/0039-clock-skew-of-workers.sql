-- How far the clock of a worker is ahead of the database's, measured at its last heartbeat.
alter table workers add column clock_skew_ms bigint not null default 0;
