// Every query on the tables of assets, their events and their deliveries.
import type { Queries } from '../platform/postgres/database.ts';
import { columns, sql } from '../platform/postgres/sql.ts';
import { uuidV7 } from '../platform/uuid-v7.ts';
import { assetRow } from '../tables.ts';
import type { Asset, NewAsset, ProviderName } from './asset.ts';
import type { NewEvent } from './asset-event.ts';
import type { StreamState } from './change.ts';
import type { Delivery, Outcome } from './delivery.ts';

const ASSET = columns(assetRow);

const found = (row: unknown) => row as Asset | undefined;
const json = (value: unknown) => JSON.stringify(value);

export const findAsset = async (db: Queries, id: string) =>
  found(await db.one(sql('find asset', assetRow)`select ${ASSET} from assets where id = ${id}`));

/** A living asset before a tombstone. */
export const findByProviderVideo = async (db: Queries, provider: ProviderName, videoId: string) =>
  found(await db.one(sql('find by provider video', assetRow)`
    select ${ASSET} from assets where provider = ${provider} and provider_video_id = ${videoId}
     order by deleted_at is not null, id desc limit 1`));

/** Asset and event in one statement; undefined where an asset of this id was made before; breaks the rule `assets_provider_video` where the video is another asset's. */
export const insertAsset = async (db: Queries, asset: NewAsset, event: NewEvent) =>
  found(await db.one(sql('insert asset', assetRow)`
    with made as (
      insert into assets (id, owner_user_id, kind, filename, content_type, mime_type, visibility, title, tags, metadata, announced_size_bytes,
        announced_sha256, provider, provider_video_id, upload_expires_at, created_at, updated_at)
      values (${asset.id}, ${asset.owner_user_id}, ${asset.kind}, ${asset.filename}, ${asset.content_type}, ${asset.mime_type}, ${asset.visibility},
        ${asset.title}, ${asset.tags}, ${asset.metadata && json(asset.metadata)}, ${asset.announced_size_bytes}, ${asset.announced_sha256}, ${asset.provider},
        ${asset.provider_video_id}, ${asset.upload_expires_at}, ${asset.created_at}, ${asset.created_at})
      returning ${ASSET}),
    told as (
      insert into events (id, asset_id, owner_user_id, type, data, created_at)
      select ${uuidV7()}::uuid, id, owner_user_id, ${event.type}, ${json(event.data)}::jsonb, created_at from made)
    select ${ASSET} from made`)) as Asset;

/** What is stored along with a state: its events, and the delivery that caused it. */
export type Cause = { readonly events: readonly NewEvent[]; readonly delivery?: Delivery | undefined; readonly outcome?: Outcome; readonly now: Date };

/** Stores a decided state, its events and the delivery that caused it in one statement; undefined if another change was faster (read and decide again). */
export const storeChange = async (db: Queries, seen: Asset, { next, ...cause }: Cause & { readonly next: StreamState }): Promise<Asset | undefined> => {
  const stored = await db.one(sql('store change', { revision: 'int4' })`
    with moved as (
      update assets set stream_status = ${next.stream_status}, attempt = ${next.attempt}, progress = ${next.progress},
             renditions = ${json(next.renditions)}, warnings = ${json(next.warnings)}, failure = ${next.failure && json(next.failure)}, refused = ${next.refused},
             playback = ${next.playback && json(next.playback)}, playable_at = ${next.playable_at}, completed_at = ${next.completed_at},
             width = ${next.width}, height = ${next.height}, duration_ms = ${next.duration_ms}, placeholder = ${next.placeholder},
             encode_try = ${next.encode_try}, encoded_try = ${next.encoded_try}, revision = revision + 1, updated_at = ${cause.now}
       where id = ${seen.id} and revision = ${seen.revision} returning id, owner_user_id, revision),
    told as (
      insert into events (id, asset_id, owner_user_id, type, data, created_at)
      select event.id, moved.id, moved.owner_user_id, event.type, event.data, ${cause.now}::timestamptz
        from moved, jsonb_to_recordset(${json(cause.events.map((event) => ({ id: uuidV7(), ...event })))}::jsonb) as event (id uuid, type text, data jsonb)),
    kept as (
      insert into deliveries (id, provider, provider_video_id, asset_id, body, headers, processed, reason, received_at)
      select ${cause.delivery?.id ?? null}::uuid, ${cause.delivery?.provider ?? null}, ${cause.delivery?.providerVideoId ?? null}, moved.id,
             ${cause.delivery?.body ?? null}::bytea, ${cause.delivery ? json(cause.delivery.headers) : null}::jsonb,
             ${cause.outcome?.processed ?? null}::boolean, ${cause.outcome?.reason ?? null}, ${cause.delivery?.receivedAt ?? null}::timestamptz
        from moved where ${cause.delivery !== undefined}
      on conflict (id) do update set asset_id = excluded.asset_id, processed = excluded.processed, reason = excluded.reason)
    select revision from moved`);
  return stored && { ...seen, ...next, revision: stored.revision, updated_at: cause.now };
};

/** Keeps a delivery that changed nothing; one that was parked gets its new outcome. */
export const keepDelivery = (db: Queries, delivery: Delivery, { processed, reason, assetId }: Outcome & { readonly assetId: string | null }) =>
  db.one(sql('keep delivery')`
    insert into deliveries (id, provider, provider_video_id, asset_id, body, headers, processed, reason, received_at)
    values (${delivery.id}, ${delivery.provider}, ${delivery.providerVideoId}, ${assetId}, ${delivery.body}, ${json(delivery.headers)}, ${processed},
      ${reason}, ${delivery.receivedAt})
    on conflict (id) do update set asset_id = excluded.asset_id, processed = excluded.processed, reason = excluded.reason`);
