// SQL queries that find many assets by id or by provider video.
import type { Queries } from '../platform/postgres/database.ts';
import { columns, columnsOf, sql } from '../platform/postgres/sql.ts';
import { assetRow, playedColumns } from '../tables.ts';
import type { Asset, PlaybackAsset, VideoRef } from './asset.ts';

const ASSET = columns(assetRow);
const PLAYED = columns(playedColumns);
const FOUND = columnsOf('found', assetRow);

/** In the order of the ids, which are in lower case. */
export async function findAssets(db: Queries, ids: readonly string[]): Promise<(Asset | undefined)[]> {
  const rows = await db.all(
    sql('find assets', assetRow)`select ${ASSET} from assets where id = any(${ids}::uuid[])`,
  );
  return inOrder(rows, ids) as (Asset | undefined)[];
}

/** In the order of the ids, which are in lower case. */
export async function findPlaybackAssets(
  db: Queries,
  ids: readonly string[],
): Promise<(PlaybackAsset | undefined)[]> {
  const rows = await db.all(
    sql('find played assets', playedColumns)`select ${PLAYED} from assets where id = any(${ids}::uuid[])`,
  );
  return inOrder(rows, ids) as (PlaybackAsset | undefined)[];
}

function inOrder<Row extends { readonly id: string }>(
  rows: readonly Row[],
  ids: readonly string[],
): (Row | undefined)[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}

/** The asset of each provider video, in the given order. An active asset precedes deleted ones. */
export async function findByVideos(db: Queries, videos: readonly VideoRef[]): Promise<(Asset | undefined)[]> {
  const rows = await db.all(sql('find by videos', { ...assetRow, position: 'int8' })`
    select ${FOUND}, requested.position
      from unnest(${videos.map(({ provider }) => provider)}::text[],
                  ${videos.map((video) => video.providerVideoId)}::text[])
           with ordinality as requested (provider, video_id, position)
      join lateral (select ${ASSET}
                      from assets
                     where provider = requested.provider and provider_video_id = requested.video_id
                     order by deleted_at is not null, id desc
                     limit 1) as found on true`);
  const byPosition = new Map(rows.map(({ position, ...row }) => [position, row]));
  return videos.map((_video, index) => byPosition.get(index + 1) as Asset | undefined);
}
