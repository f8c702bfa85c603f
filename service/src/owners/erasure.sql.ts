// SQL queries for erasures of owners and their items. Times are the database's.
import type { Asset } from '../assets/asset.ts';
import type { Queries, Transaction } from '../platform/postgres/database.ts';
import type { RowOf } from '../platform/postgres/row.ts';
import { columns, sql } from '../platform/postgres/sql.ts';
import { assetRow, TABLES } from '../tables.ts';
import type { RemovedRows } from './receipt.ts';

const ERASURE = TABLES.owner_erasures;
const ITEM = TABLES.owner_erasure_items;
const ASSET = columns(assetRow);

export type ErasureRow = Readonly<RowOf<typeof ERASURE>>;
export type ItemRow = Readonly<RowOf<typeof ITEM>>;

/** Before the first asset; an item of this id has the rows of the owner that belong to no asset. */
export const NO_ASSET = '00000000-0000-0000-0000-000000000000';

type NewErasure = Pick<ErasureRow, 'id' | 'owner_user_id' | 'owner_sha256' | 'leaves_videos'>;

/** Ends when no transaction in progress creates assets of the owner (trigger `refuse_erased_owners`). */
export const lockOwner = (tx: Transaction, owner: string) =>
  tx.one(sql('lock owner for erasure', { locked: 'bool' })`
    select pg_advisory_xact_lock(80417, usage_bucket(${owner})) is not null as locked`);

/** Undefined if an erasure of the owner runs already. */
export const insertErasure = (tx: Transaction, row: NewErasure): Promise<ErasureRow | undefined> =>
  tx.one(sql('insert erasure', ERASURE)`
    insert into owner_erasures (id, owner_user_id, owner_sha256, leaves_videos)
    values (${row.id}, ${row.owner_user_id}, ${row.owner_sha256}, ${row.leaves_videos})
    on conflict (owner_user_id) where owner_user_id is not null do nothing
    returning ${columns(ERASURE)}`);

/** Leaves the videos from now on, if asked to; otherwise changes nothing. */
export const findRunningErasure = (db: Queries, owner: string, leavesVideos: boolean) =>
  db.one(sql('running erasure', ERASURE)`
    update owner_erasures set leaves_videos = leaves_videos or ${leavesVideos}
     where owner_user_id = ${owner} returning ${columns(ERASURE)}`);

export const isBeingErased = async (db: Queries, owner: string): Promise<boolean> =>
  (await db.one(sql('is owner being erased', { id: 'uuid' })`
    select id from owner_erasures where owner_user_id = ${owner}`)) !== undefined;

export const findErasure = (db: Queries, id: string): Promise<ErasureRow | undefined> =>
  db.one(sql('find erasure', ERASURE)`
    select ${columns(ERASURE)} from owner_erasures where id = ${id}`);

export const setPhase = (db: Queries, id: string, phase: string) =>
  db.one(sql('set erasure phase')`update owner_erasures set phase = ${phase} where id = ${id}`);

export const setWaiting = (db: Queries, id: string, waiting: readonly object[]) =>
  db.one(sql('set erasure waiting')`
    update owner_erasures set waiting = ${JSON.stringify(waiting)}::jsonb where id = ${id}`);

type Completion = Pick<ErasureRow, 'id' | 'completed_at' | 'statement' | 'signature' | 'public_key'>;

export const completeErasure = (tx: Transaction, row: Completion) =>
  tx.one(sql('complete erasure')`
    update owner_erasures
       set phase = 'completed', owner_user_id = null, waiting = '[]', completed_at = ${row.completed_at},
           statement = ${row.statement}, signature = ${row.signature}, public_key = ${row.public_key}
     where id = ${row.id}`);

/** A page of all assets of an owner, by id: active, in the trash, and deleted. */
export const listAssetsOfOwner = async (db: Queries, owner: string, page: Page): Promise<readonly Asset[]> =>
  (await db.all(sql('assets of owner', assetRow)`
    select ${ASSET} from (
      (select ${ASSET} from assets
        where owner_user_id = ${owner} and id > ${page.after} and deleted_at is null
        order by id limit ${page.limit})
      union all
      (select ${ASSET} from assets
        where owner_user_id = ${owner} and id > ${page.after} and deleted_at is not null
        order by id limit ${page.limit})) as found
     order by id limit ${page.limit}`)) as readonly unknown[] as readonly Asset[];

type Page = { readonly after: string; readonly limit: number };

type NewItem = Pick<ItemRow, 'asset_id' | 'provider' | 'provider_video_id' | 'uploads_end'>;

/** Of an asset that has an item, the item follows what changed until it was deleted. */
export const recordItems = (db: Queries, erasureId: string, items: readonly NewItem[]) =>
  db.one(sql('record erasure items')`
    insert into owner_erasure_items (erasure_id, asset_id, provider, provider_video_id, uploads_end)
    select ${erasureId}, item.*
      from json_to_recordset(${JSON.stringify(items)}::json)
             as item (asset_id uuid, provider text, provider_video_id text, uploads_end timestamptz)
    on conflict (erasure_id, asset_id) do update
       set provider = excluded.provider, provider_video_id = excluded.provider_video_id,
           uploads_end = excluded.uploads_end`);

/**
 * The items that have a next step: their objects were not removed yet, or neither a provider's video nor a
 * presigned URL keeps them.
 */
export const listDueItems = (db: Queries, erasureId: string, page: Page): Promise<ItemRow[]> =>
  db.all(sql('due erasure items', ITEM)`
    select ${columns(ITEM)} from owner_erasure_items
     where erasure_id = ${erasureId} and asset_id > ${page.after} and confirmed_at is null
       and (objects_removed_at is null
            or (uploads_end is null or uploads_end <= now())
               and (provider_video_id is null or video_removed_at is not null
                    or (select leaves_videos from owner_erasures where id = ${erasureId})))
     order by asset_id limit ${page.limit}`);

export const listItems = (db: Queries, erasureId: string, page: Page): Promise<ItemRow[]> =>
  db.all(sql('erasure items', ITEM)`
    select ${columns(ITEM)} from owner_erasure_items
     where erasure_id = ${erasureId} and asset_id > ${page.after}
     order by asset_id limit ${page.limit}`);

/** The first page, with the item of the owner's other rows. */
export const listFirstItems = (db: Queries, erasureId: string, limit: number): Promise<ItemRow[]> =>
  db.all(sql('first erasure items', ITEM)`
    select ${columns(ITEM)} from owner_erasure_items
     where erasure_id = ${erasureId} order by asset_id limit ${limit}`);

/** A page of the items whose provider still has the video. */
export const listVideoItems = (db: Queries, erasureId: string, page: Page & { readonly provider: string }) =>
  db.all(sql('erasure videos', ITEM)`
    select ${columns(ITEM)} from owner_erasure_items
     where erasure_id = ${erasureId} and provider = ${page.provider} and asset_id > ${page.after}
       and provider_video_id is not null and video_removed_at is null and confirmed_at is null
     order by asset_id limit ${page.limit}`);

export const recordVideoRemoval = (db: Queries, item: Pick<ItemRow, 'erasure_id' | 'asset_id'>) =>
  db.one(sql('record video removal')`
    update owner_erasure_items set video_removed_at = now(), video_error = null
     where erasure_id = ${item.erasure_id} and asset_id = ${item.asset_id}`);

export const recordVideoError = (
  db: Queries,
  item: Pick<ItemRow, 'erasure_id' | 'asset_id' | 'video_error'>,
) =>
  db.one(sql('record video error')`
    update owner_erasure_items set video_error = ${item.video_error}
     where erasure_id = ${item.erasure_id} and asset_id = ${item.asset_id}`);

type Step = {
  readonly ids: readonly string[];
  readonly removals: readonly RemovedRows[];
  /** `counted`: jobs may still store more. `confirmed`: nothing is left. */
  readonly state: 'counted' | 'removed' | 'confirmed';
};

/** Adds rows to what was removed of items. Files are counted before their removal, so the most are right. */
export const addRemovals = (db: Queries, erasureId: string, { ids, removals, state }: Step) =>
  db.one(sql('add erasure removals')`
    with added as (
      select asset_id, kind, sum(count) as count
        from json_to_recordset(${JSON.stringify(removals)}::json)
               as removal (asset_id uuid, kind text, count int8)
       group by asset_id, kind)
    update owner_erasure_items as item
       set objects_removed_at = case when ${state}::text <> 'counted' then now() end,
           confirmed_at = case when ${state}::text = 'confirmed' then coalesce(confirmed_at, now()) end,
           removed = removed || coalesce((
             select jsonb_object_agg(kind, case
               when kind like '%_files' then greatest((removed ->> kind)::int8, count)
               else coalesce((removed ->> kind)::int8, 0) + count end)
               from added where added.asset_id = item.asset_id and count > 0), '{}')
     where erasure_id = ${erasureId} and asset_id = any(${ids}::uuid[])`);

const PROGRESS = {
  assets: 'int8',
  confirmed: 'int8',
  videos: 'int8',
  videos_removed: 'int8',
} as const;
export type Progress = Readonly<RowOf<typeof PROGRESS>>;

export const countProgress = (db: Queries, erasureId: string): Promise<Progress | undefined> =>
  db.one(sql('erasure progress', PROGRESS)`
    select count(*) as assets, count(confirmed_at) as confirmed, count(provider_video_id) as videos,
           count(video_removed_at) as videos_removed
      from owner_erasure_items where erasure_id = ${erasureId} and asset_id <> ${NO_ASSET}`);

/** What items wait for by themselves: a provider, or the end of presigned URLs. */
export const listWaits = (db: Queries, erasureId: string) =>
  db.all(sql('erasure waits', { provider: 'text?', count: 'int8', error: 'text?', until: 'timestamptz?' })`
    select provider, count(*) as count, max(video_error) as error, null::timestamptz as until
      from owner_erasure_items
     where erasure_id = ${erasureId} and confirmed_at is null and provider_video_id is not null
       and video_removed_at is null
       and not (select leaves_videos from owner_erasures where id = ${erasureId})
     group by provider
    union all
    select null, count(*), null, max(uploads_end)
      from owner_erasure_items
     where erasure_id = ${erasureId} and confirmed_at is null and uploads_end > now()
    having count(*) > 0`);

/** Assets that are not deleted for good yet; those under a legal hold have to stay. */
export const countUnclosed = async (db: Queries, owner: string) =>
  (await db.one(sql('unclosed assets', { free: 'int8', held: 'int8' })`
    select count(*) filter (where not legal_hold) as free, count(*) filter (where legal_hold) as held
      from (select legal_hold from assets where owner_user_id = ${owner} and deleted_at is null
            union all
            select legal_hold from assets
             where owner_user_id = ${owner} and purge_at is not null) as found`)) ?? { free: 0, held: 0 };

export const databaseNow = async (db: Queries): Promise<Date> =>
  (await db.one(sql('erasure time', { now: 'timestamptz' })`select now() as now`))?.now ?? new Date(0);
