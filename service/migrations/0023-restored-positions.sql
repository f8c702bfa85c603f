-- Positions also have to rise above those that outbound webhooks store: an endpoint that was activated, or a cursor
-- that was moved, after the newest stored event would otherwise skip the first events after a restore.
create or replace function raise_event_positions() returns boolean language plpgsql as $$
declare
  newest bigint;
begin
  perform pg_advisory_xact_lock(7263418096);
  select greatest((select max(transaction_id) from events where transaction_id is not null),
                  (select max(active_after) from webhook_endpoints),
                  (select max(transaction_id) from event_cursors))
    into newest;
  if newest < event_transaction(pg_snapshot_xmax(pg_current_snapshot())) then return false; end if;
  execute format(
    'create or replace function event_transaction(id xid8) returns bigint language sql immutable strict '
    'parallel safe return id::text::bigint + %s',
    newest + 1 - pg_snapshot_xmin(pg_current_snapshot())::text::bigint);
  return true;
end $$;
