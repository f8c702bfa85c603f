// SQL queries that compare the assets with the videos that a hosted provider has listed.
import type { Asset, ProviderName } from '../../assets/asset.ts';
import type { Queries } from '../../platform/postgres/database.ts';
import { columns, sql } from '../../platform/postgres/sql.ts';
import { assetRow } from '../../tables.ts';

export const insertListedVideos = (
  db: Queries,
  {
    id,
    provider,
    videoIds,
  }: { readonly id: string; readonly provider: string; readonly videoIds: readonly string[] },
) =>
  db.one(sql('insert listed videos')`
    insert into storage_check_videos (check_id, provider, provider_video_id)
    select ${id}, ${provider}, unnest(${videoIds}::text[])
    on conflict do nothing`);

export const deleteListedVideos = (db: Queries, id: string) =>
  db.one(sql('delete listed videos')`delete from storage_check_videos where check_id = ${id}`);

/** Whether a provider has videos of assets that were not deleted. */
export const hasVideosAt = async (db: Queries, provider: ProviderName): Promise<boolean> =>
  (await db.one(sql('has videos at provider', { id: 'uuid' })`
    select id from assets
     where provider = ${provider} and provider_video_id is not null and deleted_at is null limit 1`)) !==
  undefined;

type UnlistedFilter = {
  readonly checkId: string;
  readonly provider: ProviderName;
  readonly after: string;
  readonly limit: number;
};

/** Assets from before the check whose video the provider has not listed, by id. */
export const findUnlistedAssets = async (
  db: Queries,
  { checkId, provider, after, limit }: UnlistedFilter,
): Promise<Asset[]> =>
  (await db.all(sql('assets of unlisted videos', assetRow)`
    select ${columns(assetRow)} from assets
     where id > ${after} and provider = ${provider} and provider_video_id is not null and deleted_at is null
       and stream_status in ('processing', 'ready')
       and created_at < (select created_at from storage_checks where id = ${checkId})
       and not exists (
         select 1 from storage_check_videos
          where check_id = ${checkId} and storage_check_videos.provider = assets.provider
            and storage_check_videos.provider_video_id = assets.provider_video_id)
     order by id
     limit ${limit}`)) as readonly unknown[] as Asset[];
