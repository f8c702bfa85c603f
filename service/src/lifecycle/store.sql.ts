// Stores decided changes of assets with their events and the deliveries that caused them, as many at once as there are.
import type { Queries } from '../platform/postgres/database.ts';
import { assignments, columns, definitions, sql } from '../platform/postgres/sql.ts';
import { uuidV7 } from '../platform/uuid-v7.ts';
import { deliveryRow, streamStateColumns } from '../tables.ts';
import type { Asset } from '../assets/asset.ts';
import type { Change } from './decide.ts';
import type { Delivery, Outcome } from './delivery.ts';

/** A delivery with what became of it, and when. */
export type DeliveryRecord = Outcome & {
  readonly delivery: Delivery;
  readonly assetId: string | null;
  readonly now: Date;
};
/** `seen` is the row that the change was decided on. */
export type PendingWrite = {
  readonly seen: Asset;
  readonly change: Change;
  readonly kept: DeliveryRecord | undefined;
  readonly now: Date;
};

const DELIVERY = columns(deliveryRow);
const CAME = definitions(deliveryRow);

/**
 * Asset, events and delivery of each move in one statement, in the order of the moves; undefined if another change was faster (read and decide again).
 * Rows are locked in the order of their ids, so that two statements never wait for each other; of two moves of one asset one is stored.
 */
export async function storeChanges(
  db: Queries,
  moves: readonly PendingWrite[],
): Promise<(Asset | undefined)[]> {
  const rows = await db.all(sql('store changes', { place: 'int4', revision: 'int4' })`
    with move as materialized (
      select * from json_to_recordset(${JSON.stringify(moves.map(recordOf))}::json)
                 as move (place int4, id uuid, seen int4, ${definitions(streamStateColumns)}, updated_at timestamptz, events jsonb, kept jsonb)),
    held as materialized (
      select id, revision from assets where id = any(array(select id from move)) order by id for no key update),
    moved as (
      update assets set ${assignments('move', streamStateColumns)}, updated_at = move.updated_at, revision = assets.revision + 1
        from move join held on held.id = move.id and held.revision = move.seen
       where assets.id = move.id and assets.revision = move.seen
      returning move.place, assets.id, assets.owner_user_id, assets.revision),
    told as (
      insert into events (id, asset_id, owner_user_id, type, data, created_at)
      select event.id, moved.id, moved.owner_user_id, event.type, event.data, move.updated_at
        from moved join move using (place), jsonb_to_recordset(move.events) as event (id uuid, type text, data jsonb)),
    kept as (
      insert into deliveries (${DELIVERY})
      select came.* from moved join move using (place), jsonb_to_record(move.kept) as came (${CAME}) where move.kept is not null
      on conflict (id) do update set asset_id = excluded.asset_id, processed = excluded.processed, reason = excluded.reason)
    select place, revision from moved`);
  const revisions = new Map(rows.map(({ place, revision }) => [place, revision]));
  return moves.map(({ seen, change, now }, place) => {
    const revision = revisions.get(place);
    return revision === undefined ? undefined : { ...seen, ...change.next, revision, updated_at: now };
  });
}

const recordOf = ({ seen, change: { next, events }, kept, now }: PendingWrite, place: number) => ({
  ...next,
  place,
  id: seen.id,
  seen: seen.revision,
  updated_at: now,
  events: events.map((event) => ({ id: uuidV7(), ...event })),
  kept: kept ? rowOf(kept) : null,
});

/** Keeps deliveries that changed nothing; one that was parked gets its new outcome. */
export async function recordDeliveries(
  db: Queries,
  deliveries: readonly DeliveryRecord[],
): Promise<undefined[]> {
  await db.all(sql('keep deliveries')`
    insert into deliveries (${DELIVERY})
    select came.* from json_to_recordset(${JSON.stringify(deliveries.map(rowOf))}::json) as came (${CAME})
    on conflict (id) do update set asset_id = excluded.asset_id, processed = excluded.processed, reason = excluded.reason`);
  return deliveries.map(() => undefined);
}

/** In JSON, bytes travel as PostgreSQL writes them. */
const rowOf = ({ delivery, assetId, processed, reason, now }: DeliveryRecord) => ({
  id: delivery.id,
  provider: delivery.provider,
  provider_video_id: delivery.providerVideoId,
  asset_id: assetId,
  body: `\\x${Buffer.from(delivery.body).toString('hex')}`,
  headers: delivery.headers,
  processed,
  reason,
  received_at: delivery.receivedAt,
  is_ours: delivery.isOurs,
  latency_ms: Math.max(0, Math.min(now.getTime() - delivery.receivedAt.getTime(), 2 ** 31 - 1)),
});
