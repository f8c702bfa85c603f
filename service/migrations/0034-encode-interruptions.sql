-- Runs of the attempt that a stopping process, a full disk or an unavailable store ended: they are no crashes.
alter table assets add column encode_interruptions int not null default 0;
