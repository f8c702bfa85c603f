// Batched statements that write assets, events and deliveries.
import type { Asset, NewAsset } from '../assets/asset.ts';
import type { NewEvent } from '../assets/asset-event.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { columns, definitions, fragment, patches, sql } from '../platform/postgres/sql.ts';
import { uuidV7 } from '../platform/values/uuid-v7.ts';
import { assetRow, mutableColumns, newAssetColumns, pick, shownColumns } from '../tables.ts';
import { deliveryRow, uploadRow } from '../tables-rows.ts';
import type {
  AssetPatch,
  DeliveryRecord,
  UploadRecord,
  PendingWrite,
  UploadLease,
} from './decisions/change.ts';

const ASSET = columns(assetRow);
const DELIVERY = columns(deliveryRow);
const DELIVERED = definitions(deliveryRow);
const recordColumns = pick(uploadRow, [
  'id',
  'asset_id',
  'owner_user_id',
  'attempt',
  'protocol',
  'target',
  'size_bytes',
  'bytes_received',
  'created_at',
  'expires_at',
  'finished_at',
]);
const UPLOAD = columns(recordColumns);
const RECORDED = definitions(recordColumns);
const PATCH = definitions(mutableColumns);
const PATCHES = patches({ table: 'assets', json: 'pending.set', row: 'patch' }, mutableColumns);

/**
 * Stores the asset, events and delivery of each write; the result is undefined if the revision differs.
 * A write that finishes a leased upload is stored only while its writer holds the lease, which then ends.
 * Locks rows in the order of their ids, assets before uploads, to prevent deadlocks. Of two writes to one
 * asset it stores one. Defers the removal of the objects in `removals`.
 */
export async function updateAssets(
  db: Queries,
  writes: readonly PendingWrite[],
): Promise<(Asset | undefined)[]> {
  const rows = await db.all(updateStatement(writes));
  const revisions = new Map(rows.map(({ place, revision }) => [place, revision]));
  return writes.map((write, place) => {
    const revision = revisions.get(place);
    return revision === undefined ? undefined : { ...write.seen, ...withUpdateTime(write), revision };
  });
}

const PENDING = definitions({
  place: 'int4',
  id: 'uuid',
  seen: 'int4',
  set: 'jsonb',
  events: 'jsonb',
  delivery: 'jsonb',
  upload: 'uuid',
  holder: 'uuid',
  record: 'jsonb',
  now: 'timestamptz',
  traceparent: 'text',
  ended: 'jsonb',
  grace_days: 'int4',
  is_erasure: 'bool',
});

const DEFER_REMOVALS = fragment`
  insert into deferred_removals (asset_id, key, remove_after)
  select updated.id, key, now() + make_interval(days => grace_days)
    from updated join pending using (place), jsonb_array_elements_text(ended) as key
  on conflict (asset_id, key) do nothing`;

const FORGET_REMOVALS = fragment`
  delete from deferred_removals
   where asset_id in (select updated.id from updated join pending using (place) where is_erasure)`;

const updateStatement = (writes: readonly PendingWrite[]) =>
  sql('update assets', { place: 'int4', revision: 'int4', is_notified: 'bool' })`
    with pending as materialized (
      select * from json_to_recordset(${JSON.stringify(writes.map(recordOf))}::json) as pending (${PENDING})),
    locked as materialized (
      select id, revision from assets
       where id = any(array(select id from pending)) order by id for no key update),
    held as materialized (
      select id, lease_holder from uploads
       where finished_at is null
         and id = any(array(select upload from pending join locked using (id) where upload is not null))
       order by id for no key update),
    updated as (
      update assets set ${PATCHES}, revision = assets.revision + 1
        from pending join locked on locked.id = pending.id and locked.revision = pending.seen,
             lateral jsonb_to_record(pending.set) as patch (${PATCH})
       where assets.id = pending.id and assets.revision = pending.seen
         and (pending.upload is null
              or (pending.upload, pending.holder) in (select held.id, held.lease_holder from held))
      returning pending.place, assets.id, assets.owner_user_id, assets.revision),
    finished as (
      update uploads set finished_at = pending.now, lease_holder = null, lease_until = null,
                         size_bytes = (pending.set ->> 'size_bytes')::int8,
                         bytes_received = (pending.set ->> 'size_bytes')::int8
        from updated join pending using (place)
       where uploads.id = pending.upload),
    opened as (
      insert into uploads (${UPLOAD})
      select record.* from updated join pending using (place),
             jsonb_to_record(pending.record) as record (${RECORDED}) where pending.record is not null
      on conflict (id) do update set target = excluded.target),
    recorded as (
      insert into events (id, asset_id, owner_user_id, type, data, created_at, revision, traceparent)
      select event.id, updated.id, updated.owner_user_id, event.type, event.data, pending.now,
             updated.revision, pending.traceparent
        from updated join pending using (place),
             jsonb_to_recordset(pending.events) as event (id uuid, type text, data jsonb)),
    deferred as (${DEFER_REMOVALS}),
    erased as (${FORGET_REMOVALS}),
    delivered as (
      insert into deliveries (${DELIVERY})
      select delivery.*
        from updated join pending using (place),
             jsonb_to_record(pending.delivery) as delivery (${DELIVERED})
       where pending.delivery is not null
      on conflict (id) do update
         set asset_id = excluded.asset_id, processed = excluded.processed, reason = excluded.reason)
    select place, revision,
           set ? 'updated_at' and pg_notify('mediary_events', updated.id::text) is not null as is_notified
      from updated join pending using (place)`;

const recordOf = (write: PendingWrite, place: number) => ({
  place,
  id: write.seen.id,
  seen: write.seen.revision,
  set: withUpdateTime(write),
  events: write.decision.events.map((event) => ({ id: uuidV7(), ...event })),
  delivery: write.decision.delivery ? rowOf(write.decision.delivery) : null,
  ...write.decision.finishes,
  record: write.decision.records ? uploadRowOf(write, write.decision.records) : null,
  now: write.now,
  traceparent: write.traceparent,
  ended: write.removals.keys,
  grace_days: write.removals.graceDays,
  is_erasure: write.decision.isErasure === true,
});

function uploadRowOf({ seen, decision, now }: PendingWrite, { isFinished, ...record }: UploadRecord) {
  const after = { ...seen, ...decision.set };
  return {
    ...record,
    asset_id: after.id,
    owner_user_id: after.owner_user_id,
    attempt: after.attempt,
    size_bytes: after.size_bytes ?? after.announced_size_bytes,
    bytes_received: after.size_bytes ?? 0,
    created_at: now,
    expires_at: after.upload_expires_at ?? now,
    finished_at: isFinished ? now : null,
  };
}

/** True while the upload can be finished by this holder. */
export const holdsUploadLease = async (db: Queries, { upload, holder }: UploadLease): Promise<boolean> =>
  (await db.one(sql('holds upload lease', { id: 'uuid' })`
    select id from uploads where id = ${upload} and lease_holder = ${holder} and finished_at is null`)) !==
  undefined;

/** Sets `updated_at` if the write changes a visible column or has an event. */
const withUpdateTime = ({ decision: { set, events }, now }: PendingWrite): AssetPatch =>
  events.length > 0 || Object.keys(set).some((name) => name in shownColumns)
    ? { ...set, updated_at: now }
    : set;

const NEW = columns(newAssetColumns);

export type PendingInsert = {
  readonly asset: NewAsset;
  readonly event: NewEvent;
  readonly traceparent: string | undefined;
};

/**
 * Inserts assets with their first events; undefined where the id exists. Violates `assets_provider_video` if
 * another asset has the video.
 */
export async function insertAssets(
  db: Queries,
  inserts: readonly PendingInsert[],
): Promise<(Asset | undefined)[]> {
  const pending = inserts.map(({ asset, event, traceparent }) => ({
    ...asset,
    event_id: uuidV7(),
    event_type: event.type,
    event_data: event.data,
    traceparent,
  }));
  const rows = await db.all(sql('insert assets', { ...assetRow, is_notified: 'bool' })`
    with pending as materialized (
      select * from json_to_recordset(${JSON.stringify(pending)}::json)
                 as pending (${definitions(newAssetColumns)},
                             event_id uuid, event_type text, event_data jsonb,
                             traceparent text)),
    created as (
      insert into assets (${NEW}, updated_at)
      select ${NEW}, created_at from pending order by provider, provider_video_id
      on conflict (id) do nothing
      returning ${ASSET}),
    recorded as (
      insert into events (id, asset_id, owner_user_id, type, data, created_at, revision, traceparent)
      select event_id, id, created.owner_user_id, event_type, event_data, created.created_at,
             created.revision, traceparent
        from created join pending using (id))
    select ${ASSET}, pg_notify('mediary_events', id::text) is not null as is_notified from created`);
  const byId = new Map(rows.map(({ is_notified, ...row }) => [row.id, row as Asset]));
  return inserts.map(({ asset }) => byId.get(asset.id));
}

/** Records deliveries that change no asset; a delivery that was parked gets its new outcome. */
export async function recordDeliveries(
  db: Queries,
  deliveries: readonly DeliveryRecord[],
): Promise<undefined[]> {
  await db.all(sql('record deliveries')`
    insert into deliveries (${DELIVERY})
    select delivery.*
      from json_to_recordset(${JSON.stringify(deliveries.map(rowOf))}::json) as delivery (${DELIVERED})
    on conflict (id) do update
       set asset_id = excluded.asset_id, processed = excluded.processed, reason = excluded.reason`);
  return deliveries.map(() => undefined);
}

/** JSON carries bytes in PostgreSQL's hex format. */
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
  is_own_encoder: delivery.isOwnEncoder,
  latency_ms: Math.max(0, Math.min(now.getTime() - delivery.receivedAt.getTime(), 2 ** 31 - 1)),
});
