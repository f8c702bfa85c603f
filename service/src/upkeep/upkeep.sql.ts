// SQL queries of the scheduled jobs, and of who owns stored objects.
import type { Asset, ProviderName } from '../assets/asset.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { columns, columnsOf, literals, sql } from '../platform/postgres/sql.ts';
import { WRITER_PROTOCOLS } from '../tables-rows.ts';
import { assetRow, pick } from '../tables.ts';
import type { ObjectOwner } from './orphan.ts';

const WRITERS = literals(WRITER_PROTOCOLS);
const DUE = columnsOf('assets', assetRow);

/** Assets whose next check is due, longest overdue first. */
export const findDueAssets = async (db: Queries, now: Date, limit: number) =>
  (await db.all(sql('due assets', assetRow)`
    select ${DUE}
      from unfinished_assets as due join assets on id = asset_id
     where due.reconcile_at <= ${now}
     order by due.reconcile_at
     limit ${limit}`)) as readonly unknown[] as readonly Asset[];

/** Whether the reconcile job has something to do: a check, a delay, or the estimate of a waiting encode. */
export const hasUnfinishedWork = async (db: Queries): Promise<boolean> =>
  (
    await db.one(sql('has unfinished work', { has_any: 'bool' })`
    select exists (select from unfinished_assets where reconcile_at <= now())
        or exists (select from unfinished_assets where stream_status = 'processing')
        or exists (select from encode_estimates where ended_at is null and delayed_after < now())
        as has_any`)
  )?.has_any === true;

/** The time of the latest event of a type. */
export const findLastEventTime = async (
  db: Queries,
  assetId: string,
  type: string,
): Promise<Date | undefined> =>
  (
    await db.one(sql('last event', { created_at: 'timestamptz' })`
    select created_at from events where asset_id = ${assetId} and type = ${type} order by id desc limit 1`)
  )?.created_at;

/**
 * Seconds of film that each provider encodes per second: the 10th percentile of the newest 100 ready videos
 * among its newest 10 000.
 */
export const measureRecentSpeeds = async (
  db: Queries,
  providers: readonly ProviderName[],
): Promise<ReadonlyMap<ProviderName, number>> => {
  const rows = await db.all(sql('recent speeds', { provider: 'text', film_ms: 'int4?' })`
    select provider, (
      select (percentile_cont(0.1) within group (order by film_ms))::int4
        from (select duration_ms
                     / greatest(extract(epoch from ready_at - coalesce(uploaded_at, created_at)), 1)
                     as film_ms
                from (select duration_ms, ready_at, uploaded_at, created_at from assets
                       where assets.provider = requested.provider and deleted_at is null
                       order by id desc limit 10000) as newest
               where ready_at is not null and duration_ms is not null
               limit 100) as recent) as film_ms
      from unnest(${providers}::text[]) as requested (provider)`);
  return new Map(
    rows.flatMap(({ provider, film_ms }) => (film_ms === null ? [] : [[provider, film_ms / 1000] as const])),
  );
};

/**
 * Expired uploads, oldest first; neither uploads that receive bytes, nor uploads to hosted providers, nor
 * assets whose bytes the service gets.
 */
export const findExpiredUploads = async (db: Queries, now: Date, limit: number): Promise<string[]> =>
  (
    await db.all(sql('expired uploads', { id: 'uuid' })`
    select id from unfinished_assets as expired join assets on id = asset_id
     where expired.upload_expires_at < ${now} and provider_video_id is null
       and not exists (select from imports where asset_id = assets.id)
       and not exists (select from clips where asset_id = assets.id)
       and not exists (
         select 1 from uploads
          where asset_id = assets.id and uploads.attempt = assets.attempt and finished_at is null
            and (lease_until >= now()
                 or protocol in ('tus', 's3-multipart') and expires_at >= ${now}))
     order by expired.upload_expires_at
     limit ${limit}`)
  ).map(({ id }) => id);

/** Creates missing partitions of this month and the months ahead; returns their number. */
export const createMonthPartitions = async (db: Queries, monthsAhead: number): Promise<number> =>
  (
    await db.one(
      sql('create partitions', { made: 'int4' })`select create_month_partitions(${monthsAhead}) as made`,
    )
  )?.made ?? 0;

/** Drops the partitions of a table that end before a time; returns their number. */
export const dropMonthsBefore = async (
  db: Queries,
  table: 'deliveries' | 'events',
  before: Date,
): Promise<number> =>
  (
    await db.one(sql('drop months', { dropped: 'int4' })`
    select drop_month_partitions(${table}::text, ${before}) as dropped`)
  )?.dropped ?? 0;

/** The assets for which provider videos were created. */
export const findAssetsOfVideos = (db: Queries, ids: readonly string[]) =>
  db.all(sql('assets of videos', { id: 'uuid', provider_video_id: 'text?', is_purged: 'bool' })`
    select id, provider_video_id, deleted_at is not null and purge_at is null as is_purged
      from assets
     where id = any(${ids}::uuid[])`);

const objectOwnerColumns = pick(assetRow, [
  'id',
  'refused',
  'legal_hold',
  'uploaded_at',
  'original_upload',
  'deleted_at',
  'purge_at',
  'stream_status',
  'attempt',
  'encode_run',
  'playback',
  'previous_version',
]);

const storedForAsset = {
  ...objectOwnerColumns,
  open_uploads: 'text[]',
  deferred: 'text[]',
  next_upload: 'uuid?',
  next_playback: 'jsonb?',
} as const;

/** `includesExpired`: an upload whose lease expired can finish until it is ended. */
export const findObjectOwners = async (
  db: Queries,
  ids: readonly string[],
  { includesExpired }: { readonly includesExpired: boolean },
) =>
  (await db.all(sql('object owners', storedForAsset)`
    select ${columns(objectOwnerColumns)}, array(
      select uploads.id::text from uploads
       where asset_id = assets.id and uploads.attempt = assets.attempt and finished_at is null
         and (${includesExpired}::bool or protocol not in (${WRITERS}) or lease_until > now()))
           as open_uploads,
           array(select key from deferred_removals where asset_id = assets.id) as deferred,
           next_upload, next_playback
      from assets left join lateral (
        select original_upload as next_upload, playback as next_playback from assets as replacements
         where version_of = assets.id and deleted_at is null) as replacement on true
     where id = any(${ids}::uuid[])`)) as readonly unknown[] as readonly ObjectOwner[];

/** Which of these uploads have a row. */
export const findUploadIds = (db: Queries, ids: readonly string[]) =>
  db.all(sql('upload ids', { id: 'uuid' })`
    select id from uploads where id = any(${ids}::uuid[]) and finished_at is null`);
