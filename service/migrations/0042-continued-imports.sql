-- An import gives its slot back while other owners wait, and continues later, also in another process.
alter table imports
  -- The upload that holds the bytes so far, and what the server must confirm to continue; null where it cannot.
  add column partial jsonb,
  -- How long earlier runs of the attempt held a slot before they gave it back.
  add column held_ms bigint not null default 0;
