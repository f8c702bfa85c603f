-- Gives events a position that clients resume from: (transaction_id, id).

-- Converts a transaction id into a position of the feed. A restored database counts transactions from the start
-- again; the service then replaces this function by one that adds an offset (raise_event_positions).
create function event_transaction(id xid8) returns bigint language sql immutable strict parallel safe
  return id::text::bigint + 0;

-- Every transaction below the result has ended. Transactions of other databases cannot write events, so they
-- are ignored: a long one would delay the feed.
create function oldest_event_transaction() returns bigint language sql stable
begin atomic
  select event_transaction(coalesce(
    (select min(running.id)
       from pg_snapshot_xip(pg_current_snapshot()) as running (id)
      where not exists (select from pg_stat_activity as session
                          join pg_database as other on other.oid = session.datid
                         where session.backend_xid = running.id::xid and other.datname <> current_database())
        and not exists (select from pg_prepared_xacts as prepared
                         where prepared.transaction = running.id::xid
                           and prepared.database <> current_database())),
    pg_snapshot_xmax(pg_current_snapshot())));
end;

-- Null for events of earlier releases, which the feed does not contain.
alter table events add column transaction_id bigint;
alter table events alter column transaction_id set default event_transaction(pg_current_xact_id());

drop index events_by_owner;
create index events_by_owner on events (owner_user_id, transaction_id, id) where transaction_id is not null;
create index events_by_position on events (transaction_id, id) where transaction_id is not null;

-- Called at each start. Adds an offset if stored events lie in the future of this server's transactions, and
-- returns whether it did.
create function raise_event_positions() returns boolean language plpgsql as $$
declare
  newest bigint;
begin
  perform pg_advisory_xact_lock(7263418096);
  select max(transaction_id) into newest from events where transaction_id is not null;
  if newest is null or newest < event_transaction(pg_snapshot_xmax(pg_current_snapshot())) then return false; end if;
  execute format(
    'create or replace function event_transaction(id xid8) returns bigint language sql immutable strict '
    'parallel safe return id::text::bigint + %s',
    newest + 1 - pg_snapshot_xmin(pg_current_snapshot())::text::bigint);
  return true;
end $$;
