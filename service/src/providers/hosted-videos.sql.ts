// SQL queries for the links between assets and provider videos, and for parked deliveries.
import type { Asset, ProviderName } from '../assets/asset.ts';
import type { NewEvent } from '../assets/asset-event.ts';
import type { Delivery } from '../lifecycle/delivery.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { columns, sql } from '../platform/postgres/sql.ts';
import { uuidV7 } from '../platform/uuid-v7.ts';
import { assetRow, deliveryRow } from '../tables.ts';

const DELIVERY = columns(deliveryRow);

/** Oldest first. Deliveries that were parked for more than seven days are ignored. */
export const parkedDeliveries = async (
  db: Queries,
  provider: ProviderName,
  videoId: string,
): Promise<Delivery[]> =>
  (
    await db.all(sql('parked deliveries', deliveryRow)`
    select ${DELIVERY} from deliveries
     where provider = ${provider} and provider_video_id = ${videoId} and reason = 'parked' and received_at > now() - interval '7 days' order by id`)
  ).map((row) => ({
    id: row.id,
    provider,
    providerVideoId: row.provider_video_id,
    body: row.body,
    headers: row.headers as Delivery['headers'],
    receivedAt: row.received_at,
    isOurs: row.is_ours,
  }));

const ASSET = columns(assetRow);

/** Creates or replaces the link of an asset; undefined if the asset was changed or deleted meanwhile. */
export const linkVideo = async (db: Queries, seen: Asset, { videoId, now }: { videoId: string; now: Date }) =>
  (await db.one(sql('link video', assetRow)`
    update assets set provider_video_id = ${videoId}, revision = revision + 1, updated_at = ${now}
     where id = ${seen.id} and provider_video_id is not distinct from ${seen.provider_video_id} and stream_status = 'pending_upload' and deleted_at is null
    returning ${ASSET}`)) as Asset | undefined;

/** The active asset of a video that several assets were linked to. An asset in the trash counts as active. */
export const livingAssetOf = (db: Queries, provider: ProviderName, videoId: string) =>
  db.one(sql('living asset of video', { id: 'uuid' })`
    select id from assets where provider = ${provider} and provider_video_id = ${videoId} and (deleted_at is null or purge_at is not null) limit 1`);

/** Inserts an event without changing the asset. */
export const noteEvent = (db: Queries, asset: Asset, { event, now }: { event: NewEvent; now: Date }) =>
  db.one(sql('note event')`
    insert into events (id, asset_id, owner_user_id, type, data, created_at)
    values (${uuidV7()}, ${asset.id}, ${asset.owner_user_id}, ${event.type}, ${JSON.stringify(event.data)}, ${now})`);
