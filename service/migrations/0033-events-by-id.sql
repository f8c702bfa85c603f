-- Finds events by time, whatever their asset: a resend to a webhook endpoint read whole partitions without it.
create index events_by_id on events (id);
