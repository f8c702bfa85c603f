-- The limits of owners without limits of their own, for all processes: imports and clips are stored by workers, which have no such settings.

-- Every process with an API writes its settings here when it starts. Null: no limit.
create table default_owner_limits (
  name text primary key,
  max_value bigint
);

-- In PL/pgSQL, which keeps the plan of the query. `field`: assets, bytes or pending.
create or replace function owner_limit(overrides jsonb, field text) returns bigint language plpgsql stable as $$
begin
  if overrides ? field then
    return (overrides ->> field)::bigint;
  end if;
  return (select max_value from default_owner_limits where name = field);
end $$;
