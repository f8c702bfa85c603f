// SQL queries that list and schedule deliveries to webhook endpoints.
import type { Queries, Transaction } from '../../platform/postgres/database.ts';
import { columns, composeClauses, clause, sql } from '../../platform/postgres/sql.ts';
import { eventRow, pick } from '../../tables.ts';
import { endpointDeliveryRow } from '../../tables-rows.ts';
import type { EndpointDelivery, NewDelivery } from './endpoint-delivery.ts';

const DELIVERY = columns(endpointDeliveryRow);

type Row = Promise<EndpointDelivery | undefined>;

type DeliveryFilter = {
  readonly endpointId: string;
  readonly state?: string | undefined;
  readonly belowId?: string | undefined;
};

/** Newest first. */
export const listDeliveries = (
  db: Queries,
  { endpointId, state, belowId }: DeliveryFilter,
  limit: number,
): Promise<readonly EndpointDelivery[]> =>
  db.all(
    composeClauses('endpoint deliveries', endpointDeliveryRow, [
      clause('')`select ${DELIVERY} from endpoint_deliveries where endpoint_id = ${endpointId}`,
      ...(state === undefined ? [] : [clause('state')`and state = ${state}`]),
      ...(belowId === undefined ? [] : [clause('below')`and id < ${belowId}`]),
      clause('')`order by id desc limit ${limit}`,
    ]),
  ) as Promise<readonly EndpointDelivery[]>;

export const findDelivery = (db: Queries, endpointId: string, id: string): Row =>
  db.one(sql('endpoint delivery', endpointDeliveryRow)`
    select ${DELIVERY} from endpoint_deliveries where id = ${id} and endpoint_id = ${endpointId}`) as Row;

/** A pending delivery becomes due, unless an attempt runs or an earlier event of its asset is pending. */
export const hastenDelivery = (db: Queries, id: string): Row =>
  db.one(sql('hasten delivery', endpointDeliveryRow)`
    update endpoint_deliveries
       set due_at = case when lease_holder is null and due_at is not null then now() else due_at end
     where id = ${id} and state = 'pending'
    returning ${DELIVERY}`) as Row;

/**
 * Schedules deliveries in the given order, behind pending deliveries of the same asset. The caller must hold
 * the locks of the endpoints, because the end of an attempt makes the next delivery due. Returns the ids of
 * the new deliveries: an endpoint has at most one pending delivery of an event.
 */
export const insertDeliveries = async (
  tx: Transaction,
  deliveries: readonly NewDelivery[],
): Promise<readonly string[]> =>
  (
    await tx.all(sql('insert deliveries', { id: 'uuid' })`
    insert into endpoint_deliveries (id, endpoint_id, event_id, asset_id, type, created_at, due_at)
    select added.id, added.endpoint_id, added.event_id, added.asset_id, added.type, now(),
           case when row_number() over (partition by added.endpoint_id, added.asset_id order by place) = 1
                 and not exists (select from endpoint_deliveries as earlier
                                  where earlier.endpoint_id = added.endpoint_id
                                    and earlier.asset_id = added.asset_id and earlier.state = 'pending')
                then now() end
      from json_to_recordset(${JSON.stringify(deliveries.map((row, place) => ({ place, ...row })))}::json)
             as added (place int4, id uuid, endpoint_id uuid, event_id uuid, asset_id uuid, type text)
     order by place
    on conflict (endpoint_id, event_id) where state = 'pending' do nothing
    returning id`)
  ).map(({ id }) => id);

const RESENT = pick(eventRow, ['id', 'asset_id', 'type']);

type EventRange = { readonly fromId: string; readonly belowId: string };

/**
 * The first `limit` published events by time, in the order of their positions: clocks of processes differ, so
 * the ids do not tell in which order events happened. Those of imported timelines have no position.
 */
export const listEventsBetween = (
  db: Queries,
  { fromId, belowId }: EventRange,
  { types, limit }: { types: readonly string[]; limit: number },
) =>
  db.all(sql('events between', RESENT)`
    select ${columns(RESENT)}
      from (select id, asset_id, type, transaction_id from events
             where id >= ${fromId}::uuid and id < ${belowId}::uuid and transaction_id >= 0
               and case when ${types}::text[] = '{}' then type <> 'asset.checked'
                   else type = any(${types}::text[]) end
             order by id
             limit ${limit}) as event
     order by transaction_id nulls first, id`);

/** Returns the number of deleted rows, at most `limit`. */
export const deleteDeliveriesBelow = async (db: Queries, belowId: string, limit: number): Promise<number> =>
  (
    await db.one(sql('delete endpoint deliveries', { deleted: 'int8' })`
    with old as (delete from endpoint_deliveries
                  where id in (select id from endpoint_deliveries
                                where id < ${belowId}::uuid order by id limit ${limit})
                 returning 1)
    select count(*) as deleted from old`)
  )?.deleted ?? 0;

/** Makes deliveries due that wait for a deleted delivery. */
export const releaseWaitingDeliveries = (db: Queries) =>
  db.all(sql('release deliveries')`
    update endpoint_deliveries as waiting set due_at = now()
     where state = 'pending' and due_at is null
       and not exists (select from endpoint_deliveries as earlier
                        where earlier.endpoint_id = waiting.endpoint_id
                          and earlier.asset_id = waiting.asset_id
                          and earlier.seq < waiting.seq and earlier.state = 'pending')`);
