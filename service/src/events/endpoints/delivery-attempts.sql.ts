// SQL queries that claim due deliveries and record their attempts.
import type { Queries, Transaction } from '../../platform/postgres/database.ts';
import type { RowOf } from '../../platform/postgres/row.ts';
import { columns, sql } from '../../platform/postgres/sql.ts';
import { eventRow, pick } from '../../tables.ts';
import type { CompletedAttempt } from './retry-plan.ts';

/** `due_in_ms`: until the next attempt or the end of a lease; null: nothing is pending. */
export const readOverview = (db: Queries) =>
  db.one(sql('endpoint overview', { enabled: 'int8', due_in_ms: 'int8?' })`
    select count(*) as enabled,
           (extract(epoch from min(head.due_at) - clock_timestamp()) * 1000)::bigint as due_in_ms
      from webhook_endpoints as endpoint
           left join lateral (select due_at from endpoint_deliveries
                               where endpoint_id = endpoint.id and due_at is not null
                               order by due_at limit 1) as head on true
     where status = 'enabled'`);

export type ClaimLimits = {
  /** Identifies the attempts of this claim. */
  readonly holder: string;
  /** Attempts that this process can start now. */
  readonly free: number;
  /** Attempts of this process, running and free ones. */
  readonly total: number;
  readonly perEndpoint: number;
  /** For endpoints whose latest attempt failed. */
  readonly perFailingEndpoint: number;
  readonly leaseMs: number;
};

/** Skips endpoints that another process has locked. */
export const lockDueEndpoints = async (tx: Transaction): Promise<readonly string[]> =>
  (
    await tx.all(sql('lock due endpoints', { id: 'uuid' })`
    select id from webhook_endpoints as endpoint
     where status = 'enabled'
       and exists (select from endpoint_deliveries where endpoint_id = endpoint.id and due_at <= now())
     order by id
       for no key update skip locked`)
  ).map(({ id }) => id);

const CLAIMED = {
  id: 'uuid',
  event_id: 'uuid',
  asset_id: 'uuid',
  attempts: 'int4',
  endpoint_id: 'uuid',
  url: 'text',
  secret: 'bytea',
  previous_secret: 'bytea?',
  previous_secret_until: 'timestamptz?',
} as const;

export type ClaimedDelivery = Readonly<RowOf<typeof CLAIMED>>;

/**
 * Leases due deliveries of the locked endpoints. Each endpoint gets at most its share of the attempts, so
 * that others can start one; endpoints with fewer running attempts come first.
 */
export const claimDeliveries = (tx: Transaction, endpointIds: readonly string[], limits: ClaimLimits) =>
  tx.all(sql('claim deliveries', CLAIMED)`
    with running as (
      select endpoint_id, count(*) as attempts from endpoint_deliveries
       where lease_holder is not null and due_at > now() group by endpoint_id),
    active as (
      select count(*) as endpoints from (select endpoint_id from running
                                          union select unnest(${endpointIds}::uuid[])) as either),
    endpoint_share as (
      select endpoint.id, coalesce(running.attempts, 0) as attempts,
             least(case when failing_since is null then ${limits.perEndpoint}::bigint
                   else ${limits.perFailingEndpoint}::bigint end,
                   greatest(1, ${limits.total}::bigint / (active.endpoints + 1))) as capacity
        from active, webhook_endpoints as endpoint left join running on running.endpoint_id = endpoint.id
       where endpoint.id = any(${endpointIds}::uuid[])),
    candidate as (
      select due.id, due.due_at, due.seq,
             share.attempts
               + row_number() over (partition by share.id order by due.due_at, due.seq) as place
        from endpoint_share as share cross join lateral (
             select id, due_at, seq from endpoint_deliveries
              where endpoint_id = share.id and due_at <= now()
              order by due_at, seq limit greatest(0, share.capacity - share.attempts)) as due),
    chosen as (select id from candidate order by place, due_at, seq limit ${limits.free}),
    claimed as (
      update endpoint_deliveries as delivery
         set lease_holder = ${limits.holder}::uuid,
             due_at = now() + ${limits.leaseMs}::float8 * interval '1 ms'
        from chosen where delivery.id = chosen.id
      returning delivery.*)
    select claimed.id, event_id, asset_id, jsonb_array_length(claimed.attempts) as attempts, endpoint_id,
           url, secret, previous_secret, previous_secret_until
      from claimed join webhook_endpoints as endpoint on endpoint.id = endpoint_id`);

/** In the order of their ids, as all transactions do. */
export const lockEndpoints = (tx: Transaction, ids: readonly string[]) =>
  tx.all(sql('lock endpoints', { id: 'uuid', failing_since: 'timestamptz?' })`
    select id, failing_since from webhook_endpoints
     where id = any(${ids}::uuid[]) order by id for no key update`);

/**
 * Ignores attempts whose lease expired. A completed delivery makes the next one of its asset due. Inserts
 * wait for the lock of the endpoint, so no delivery stays without a due time.
 */
export const storeAttempts = (tx: Transaction, attempts: readonly CompletedAttempt[]) =>
  tx.all(sql('store attempts')`
    with completed as materialized (
      select * from json_to_recordset(${JSON.stringify(attempts.map(toRecord))}::json)
                 as completed (id uuid, holder uuid, state text, delay_ms float8, attempt jsonb)),
    stored as (
      update endpoint_deliveries as delivery
         set attempts = delivery.attempts || completed.attempt, state = completed.state, lease_holder = null,
             due_at = case when completed.state = 'pending'
                      then now() + completed.delay_ms * interval '1 ms' end,
             completed_at = case when completed.state <> 'pending' then now() end
        from completed
       where delivery.id = completed.id and delivery.lease_holder = completed.holder
      returning delivery.id, delivery.endpoint_id, delivery.asset_id, delivery.state)
    update endpoint_deliveries as waiting set due_at = now()
      from stored cross join lateral (
           select id from endpoint_deliveries as later
            where later.endpoint_id = stored.endpoint_id and later.asset_id = stored.asset_id
              and later.state = 'pending' and later.id <> stored.id
            order by seq limit 1) as next
     where stored.state <> 'pending' and waiting.id = next.id and waiting.due_at is null`);

const toRecord = ({ id, holder, attempt, plan }: CompletedAttempt) => ({
  id,
  holder,
  attempt,
  state: plan.state,
  delay_ms: plan.delayMs ?? 0,
});

export const clearFailures = (tx: Transaction, ids: readonly string[]) =>
  tx.all(sql('clear endpoint failures')`
    update webhook_endpoints set failing_since = null where id = any(${ids}::uuid[])`);

/** Pauses endpoints that fail for too long. A time without attempts does not count as failing. */
export const recordFailures = (tx: Transaction, ids: readonly string[], pauseAfterMs: number) =>
  tx.all(sql('record endpoint failures', { id: 'uuid', status: 'text' })`
    with failure as (
      select id, case when failed_at >= now() - ${pauseAfterMs}::float8 * interval '1 ms'
                 then coalesce(failing_since, now()) else now() end as since
        from webhook_endpoints where id = any(${ids}::uuid[]) and status = 'enabled')
    update webhook_endpoints as endpoint
       set failing_since = since, failed_at = now(),
           status = case when is_over then 'paused' else status end,
           paused_reason = case when is_over then 'failing' end,
           paused_at = case when is_over then now() end
      from failure,
           lateral (select since <= now() - ${pauseAfterMs}::float8 * interval '1 ms') as pause (is_over)
     where endpoint.id = failure.id
    returning endpoint.id, status`);

export const pauseGone = (tx: Transaction, ids: readonly string[]) =>
  tx.all(sql('pause gone endpoints', { id: 'uuid' })`
    update webhook_endpoints
       set status = 'paused', paused_reason = 'gone', paused_at = now(), failed_at = now(),
           failing_since = coalesce(failing_since, now())
     where id = any(${ids}::uuid[]) and status = 'enabled'
    returning id`);

/** Other processes can send these deliveries at once. */
export const releaseDeliveries = (db: Queries, holder: string, ids: readonly string[]) =>
  db.all(sql('release leases')`
    update endpoint_deliveries set lease_holder = null, due_at = now()
     where id = any(${ids}::uuid[]) and lease_holder = ${holder}::uuid`);

const SENT = {
  ...pick(eventRow, ['id', 'asset_id', 'owner_user_id', 'type', 'data', 'created_at']),
  traceparent: 'text?',
} as const;

export type SentEvent = Readonly<RowOf<typeof SENT>>;

export const findEvents = (db: Queries, deliveries: readonly ClaimedDelivery[]): Promise<SentEvent[]> =>
  db.all(sql('find events', SENT)`
    select ${columns(SENT)} from events
     where (asset_id, id) in (
           select * from unnest(${deliveries.map((delivery) => delivery.asset_id)}::uuid[],
                                ${deliveries.map((delivery) => delivery.event_id)}::uuid[]))`);
