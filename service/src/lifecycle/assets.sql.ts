// Finds assets and makes them, as many at once as are asked for.
import type { Queries } from '../platform/postgres/database.ts';
import { columns, columnsOf, definitions, sql } from '../platform/postgres/sql.ts';
import { uuidV7 } from '../platform/uuid-v7.ts';
import { assetRow, newAssetColumns } from '../tables.ts';
import type { Asset, NewAsset, VideoRef } from '../assets/asset.ts';
import type { NewEvent } from '../assets/asset-event.ts';

const ASSET = columns(assetRow);

const found = (row: unknown) => row as Asset | undefined;

/** In the order of the ids, which are in lower case. */
export async function findAssets(db: Queries, ids: readonly string[]): Promise<(Asset | undefined)[]> {
  const rows = await db.all(
    sql('find assets', assetRow)`select ${ASSET} from assets where id = any(${ids}::uuid[])`,
  );
  return inOrder(rows, ids);
}

function inOrder(rows: readonly { readonly id: string }[], ids: readonly string[]): (Asset | undefined)[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => found(byId.get(id)));
}

const FOUND = columnsOf('found', assetRow);

/** Of each provider's video, in the order asked for: a living asset before a tombstone. */
export async function findByVideos(db: Queries, videos: readonly VideoRef[]): Promise<(Asset | undefined)[]> {
  const rows = await db.all(sql('find by videos', { ...assetRow, place: 'int8' })`
    select ${FOUND}, asked.place from unnest(${videos.map(({ provider }) => provider)}::text[], ${videos.map((video) => video.providerVideoId)}::text[])
           with ordinality as asked (provider, video_id, place)
      join lateral (select ${ASSET} from assets where provider = asked.provider and provider_video_id = asked.video_id
                     order by deleted_at is not null, id desc limit 1) as found on true`);
  const byPlace = new Map(rows.map(({ place, ...row }) => [place, row]));
  return videos.map((_video, index) => found(byPlace.get(index + 1)));
}

const NEW = columns(newAssetColumns);

export type Making = { readonly asset: NewAsset; readonly event: NewEvent };

/** Assets and their first events in one statement, in the order asked for; undefined where an asset of this id was made before. Breaks the rule `assets_provider_video` where a video is another asset's. */
export async function insertAssets(db: Queries, makings: readonly Making[]): Promise<(Asset | undefined)[]> {
  const wishes = makings.map(({ asset, event }) => ({
    ...asset,
    event_id: uuidV7(),
    event_type: event.type,
    event_data: event.data,
  }));
  const rows = await db.all(sql('insert assets', assetRow)`
    with wish as materialized (
      select * from json_to_recordset(${JSON.stringify(wishes)}::json) as wish (${definitions(newAssetColumns)}, event_id uuid, event_type text, event_data jsonb)),
    made as (
      insert into assets (${NEW}, updated_at) select ${NEW}, created_at from wish order by provider, provider_video_id
      on conflict (id) do nothing returning ${ASSET}),
    told as (
      insert into events (id, asset_id, owner_user_id, type, data, created_at)
      select event_id, id, made.owner_user_id, event_type, event_data, made.created_at from made join wish using (id))
    select ${ASSET} from made`);
  return inOrder(
    rows,
    makings.map(({ asset }) => asset.id),
  );
}
