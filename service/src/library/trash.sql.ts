// Removing assets for good or for a while, and bringing them back.
import type { Queries } from '../platform/postgres/database.ts';
import { columns, sql } from '../platform/postgres/sql.ts';
import { uuidV7 } from '../platform/uuid-v7.ts';
import { assetRow } from '../tables.ts';
import type { Asset } from '../assets/asset.ts';
import type { NewEvent } from '../assets/asset-event.ts';

const ASSET = columns(assetRow);

type Removal = { readonly purgeAt: Date | null; readonly event: NewEvent; readonly now: Date };

/** Deletes an asset that is live or in the trash; undefined if it is purged already, or any other change came first: a restore raises `revision` alone. */
export const markDeleted = async (db: Queries, seen: Asset, { purgeAt, event, now }: Removal) =>
  (await db.one(sql('mark deleted', assetRow)`
    with gone as (
      update assets set deleted_at = coalesce(deleted_at, ${now}), purge_at = ${purgeAt}, updated_at = ${now}, version = version + 1, revision = revision + 1,
             playback_version = playback_version + 1
       where id = ${seen.id} and revision = ${seen.revision} and (deleted_at is null or purge_at is not null) returning ${ASSET}),
    told as (
      insert into events (id, asset_id, owner_user_id, type, data, created_at)
      select ${uuidV7()}::uuid, id, owner_user_id, ${event.type}, ${JSON.stringify(event.data)}::jsonb, ${now}::timestamptz from gone)
    select ${ASSET} from gone`)) as Asset | undefined;

/** Brings one back from the trash; breaks the rule `assets_provider_video` where its video is another asset's by now. */
export const markRestored = async (db: Queries, id: string, { event, now }: { event: NewEvent; now: Date }) =>
  (await db.one(sql('mark restored', assetRow)`
    with back as (
      update assets set deleted_at = null, purge_at = null, updated_at = ${now}, revision = revision + 1
       where id = ${id} and purge_at is not null returning ${ASSET}),
    told as (
      insert into events (id, asset_id, owner_user_id, type, data, created_at)
      select ${uuidV7()}::uuid, id, owner_user_id, ${event.type}, ${JSON.stringify(event.data)}::jsonb, ${now}::timestamptz from back)
    select ${ASSET} from back`)) as Asset | undefined;

/** Assets whose time in the trash is over, oldest first. */
export const findOverdueInTrash = async (db: Queries, now: Date, limit: number) =>
  (await db.all(sql('overdue in trash', assetRow)`
    select ${ASSET} from assets where purge_at <= ${now} order by purge_at limit ${limit}`)) as readonly unknown[] as readonly Asset[];
