// SQL queries about videos at hosted providers: links, parked deliveries, and the latest check.
import type { ProviderName } from '../assets/asset.ts';
import type { Delivery } from '../lifecycle/decisions/stream-report.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { columns, sql } from '../platform/postgres/sql.ts';
import { deliveryRow } from '../tables-rows.ts';

const DELIVERY = columns(deliveryRow);

/** Oldest first. Ignores deliveries that were parked more than seven days ago. */
export const listParkedDeliveries = async (
  db: Queries,
  provider: ProviderName,
  videoId: string,
): Promise<Delivery[]> =>
  (
    await db.all(sql('parked deliveries', deliveryRow)`
    select ${DELIVERY} from deliveries
     where provider = ${provider} and provider_video_id = ${videoId}
       and reason = 'parked' and received_at > now() - interval '7 days'
     order by id`)
  ).map((row) => ({
    id: row.id,
    provider,
    providerVideoId: row.provider_video_id,
    body: row.body,
    headers: row.headers as Delivery['headers'],
    receivedAt: row.received_at,
    isOwnEncoder: row.is_own_encoder,
  }));

/** An active asset of a video: several assets may link to it. Assets in the trash count as active. */
export const findActiveAsset = (db: Queries, provider: ProviderName, videoId: string) =>
  db.one(sql('active asset of video', { id: 'uuid' })`
    select id
      from assets
     where provider = ${provider} and provider_video_id = ${videoId}
       and (deleted_at is null or purge_at is not null)
     limit 1`);

/** The reason of the latest check in the asset's timeline. */
export const findLastCheckReason = async (db: Queries, assetId: string): Promise<string | undefined> =>
  (
    await db.one(sql('last check reason', { reason: 'text?' })`
    select data ->> 'reason' as reason from events
     where asset_id = ${assetId} and type = 'asset.checked'
     order by id desc limit 1`)
  )?.reason ?? undefined;
