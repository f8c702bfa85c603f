// SQL queries that compare the assets with the videos that a hosted provider has listed.
import type { ProviderName } from '../../assets/asset.ts';
import type { Queries } from '../../platform/postgres/database.ts';
import { columns, sql } from '../../platform/postgres/sql.ts';
import { pick, TABLES } from '../../tables.ts';
import type { FindingRow } from './check.sql.ts';

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

/** Deletes a part of the listed videos; returns their number. */
export const deleteListedVideos = async (db: Queries, id: string, limit: number): Promise<number> =>
  (
    await db.one(sql('delete listed videos', { deleted: 'int8' })`
      with deleted as (
        delete from storage_check_videos
         where check_id = ${id} and (provider, provider_video_id) in (
           select provider, provider_video_id from storage_check_videos where check_id = ${id} limit ${limit})
        returning 1)
      select count(*) as deleted from deleted`)
  )?.deleted ?? 0;

const RECORDED = pick(TABLES.storage_findings, ['kind', 'provider', 'provider_video_id']);

/** What a check has recorded about these videos. */
export const listRecordedVideos = async (
  db: Queries,
  id: string,
  videoIds: readonly string[],
): Promise<Pick<FindingRow, keyof typeof RECORDED>[]> =>
  (await db.all(sql('recorded videos', RECORDED)`
    select ${columns(RECORDED)} from storage_findings
     where check_id = ${id} and provider_video_id = any(${videoIds}::text[])`)) as Pick<
    FindingRow,
    keyof typeof RECORDED
  >[];

/** Whether a provider has videos of assets that were not deleted. */
export const hasVideosAt = async (db: Queries, provider: ProviderName): Promise<boolean> =>
  (await db.one(sql('has videos at provider', { id: 'uuid' })`
    select id from assets
     where provider = ${provider} and provider_video_id is not null and deleted_at is null limit 1`)) !==
  undefined;

type VideoPage = {
  readonly checkId: string;
  readonly provider: ProviderName;
  /** The last video of the page before. */
  readonly after: string;
  readonly limit: number;
};

/**
 * A page of the assets with a video at a provider, by the video's id, which is unique. `is_lost`: the asset
 * is from before the check, needs its video, and the provider has not listed it.
 */
export const listLinkedAssets = (db: Queries, { checkId, provider, after, limit }: VideoPage) =>
  db.all(sql('assets of a provider', { id: 'uuid', provider_video_id: 'text?', is_lost: 'bool' })`
    select id, provider_video_id,
           stream_status in ('processing', 'ready')
             and created_at < (select created_at from storage_checks where id = ${checkId})
             and not exists (
               select 1 from storage_check_videos
                where check_id = ${checkId} and storage_check_videos.provider = assets.provider
                  and storage_check_videos.provider_video_id = assets.provider_video_id) as is_lost
      from assets
     where provider = ${provider} and provider_video_id > ${after} and deleted_at is null
     order by provider_video_id
     limit ${limit}`);
