// SQL queries for the trash, for assets that expire, and for the collections of assets.
import { MAX_SHOWN_COLLECTIONS } from '@mediary/contract/schemas/assets/asset';
import type { Asset } from '../assets/asset.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { columns, fragment, sql } from '../platform/postgres/sql.ts';
import { assetRow } from '../tables.ts';

const ASSET = columns(assetRow);

/** Newest first, at most as many as an asset shows; in the order of the assets. */
export const findCollectionsOf = async (db: Queries, assetIds: readonly string[]) =>
  (
    await db.all(sql('collections of assets', { collections: 'text[]' })`
    select array(select item.collection_id::text from collection_items as item
                  where item.asset_id = asset.id
                  order by item.collection_id desc limit ${MAX_SHOWN_COLLECTIONS}) as collections
      from unnest(${assetIds}::uuid[]) with ordinality as asset (id, place) order by place`)
  ).map((row) => row.collections);

export const NIL_ID = '00000000-0000-0000-0000-000000000000';

type ExpiryPosition = Pick<Asset, 'expires_at' | 'id'>;
export const ASSET_EXPIRY_START: ExpiryPosition = { expires_at: new Date(0), id: NIL_ID };

type ExpiryPage = { readonly now: Date; readonly after: ExpiryPosition; readonly limit: number };

/** A hold keeps an asset. A permanent deletion has no time of purge. */
const MAY_EXPIRE = fragment`not legal_hold and (deleted_at is null or purge_at is not null)`;

/** Assets that have expired, oldest first, also those in the trash; none under a legal hold. */
export const findExpiredAssets = async (db: Queries, { now, after, limit }: ExpiryPage) =>
  (await db.all(sql('expired assets', assetRow)`
    select ${ASSET}
      from assets
     where expires_at <= ${now} and ${MAY_EXPIRE}
       and (expires_at, id) > (${after.expires_at}::timestamptz, ${after.id}::uuid)
     order by expires_at, id
     limit ${limit}`)) as readonly unknown[] as readonly Asset[];

/** Whether `findExpiredAssets` would find one. */
export const hasExpiredAssets = async (db: Queries): Promise<boolean> =>
  (
    await db.one(sql('has expired assets', { has_any: 'bool' })`
    select exists (select from assets
                    where expires_at <= now() and ${MAY_EXPIRE}) as has_any`)
  )?.has_any === true;

type TrashPosition = Pick<Asset, 'purge_at' | 'id'>;
export const TRASH_START: TrashPosition = { purge_at: new Date(0), id: NIL_ID };

type TrashPage = { readonly now: Date; readonly after: TrashPosition; readonly limit: number };

/** Assets whose time in the trash has passed, oldest first; none under a legal hold. */
export const findExpiredTrash = async (db: Queries, { now, after, limit }: TrashPage) =>
  (await db.all(sql('expired trash', assetRow)`
    select ${ASSET}
      from assets
     where purge_at <= ${now} and not legal_hold
       and (purge_at, id) > (${after.purge_at}::timestamptz, ${after.id}::uuid)
     order by purge_at, id
     limit ${limit}`)) as readonly unknown[] as readonly Asset[];
