// SQL queries for the assets of collections. Those that change them need the lock of the collection.
import type { Asset, ShownAsset } from '../assets/asset.ts';
import type { Queries, Transaction } from '../platform/postgres/database.ts';
import { clause, columns, columnsOf, composeClauses, fragment, sql } from '../platform/postgres/sql.ts';
import { assetRow, pick, shownColumns } from '../tables.ts';

const FOUND = pick(assetRow, ['id', 'owner_user_id', 'deleted_at', 'purge_at']);

/** In the order of their ids, as all transactions do. Deletions wait until the end of the transaction. */
export const lockAssets = (tx: Transaction, ids: readonly string[]) =>
  tx.all(sql('lock added assets', FOUND)`
    select ${columns(FOUND)} from assets where id = any(${ids}::uuid[]) order by id for share`);

/** Which of the assets are in the collection. */
export const findMembers = async (db: Queries, id: string, assetIds: readonly string[]) =>
  new Set(
    (
      await db.all(sql('find members', { asset_id: 'uuid' })`
    select asset_id from collection_items
     where collection_id = ${id} and asset_id = any(${assetIds}::uuid[])`)
    ).map((row) => row.asset_id),
  );

/** Those in the trash included. */
export const countMembers = async (db: Queries, id: string): Promise<number> =>
  (
    await db.one(sql('count members', { count: 'int8' })`
    select count(*) from collection_items where collection_id = ${id}`)
  )?.count ?? 0;

type Neighbours = { readonly anchor: string | null; readonly moved: string | null };
const BOUNDS = { low: 'int8?', high: 'int8?' } as const;

/** The positions at both ends. `moved` does not count. */
export const findEnds = (tx: Transaction, id: string, moved: string | null) =>
  tx.one(sql('ends of collection', BOUNDS)`
    select min(position) as low, max(position) as high from collection_items
     where collection_id = ${id} and asset_id is distinct from ${moved}`);

/** The position of the anchor, and that before it. Undefined: the anchor is not in the collection. */
export const findBefore = (tx: Transaction, id: string, { anchor, moved }: Neighbours) =>
  tx.one(sql('place before', BOUNDS)`
    select anchor.position as high,
           (select max(position) from collection_items
             where collection_id = ${id} and position < anchor.position
               and asset_id is distinct from ${moved}) as low
      from collection_items as anchor where collection_id = ${id} and asset_id = ${anchor}`);

/** The position of the anchor, and that after it. */
export const findAfter = (tx: Transaction, id: string, { anchor, moved }: Neighbours) =>
  tx.one(sql('place after', BOUNDS)`
    select anchor.position as low,
           (select min(position) from collection_items
             where collection_id = ${id} and position > anchor.position
               and asset_id is distinct from ${moved}) as high
      from collection_items as anchor where collection_id = ${id} and asset_id = ${anchor}`);

/** Writes all positions again, `gap` apart, in the same order. */
export const renumber = (tx: Transaction, id: string, gap: number) =>
  tx.one(sql('renumber collection')`
    with numbered as (
      select asset_id, row_number() over (order by position, asset_id) * ${gap}::bigint as position
        from collection_items where collection_id = ${id}),
    written as (
      update collection_items as item set position = numbered.position
        from numbered where item.collection_id = ${id} and item.asset_id = numbered.asset_id)
    update collections set numbering = numbering + 1 where id = ${id}`);

type PlacedAsset = { readonly assetId: string; readonly position: number };

/** Moves those that are there already. */
export const placeItems = (tx: Transaction, id: string, items: readonly PlacedAsset[]) =>
  tx.all(sql('place items')`
    insert into collection_items (collection_id, asset_id, position, added_at)
    select ${id}, placed.asset_id, placed.position, now()
      from unnest(${items.map((item) => item.assetId)}::uuid[],
                  ${items.map((item) => item.position)}::bigint[]) as placed (asset_id, position)
    on conflict (collection_id, asset_id) do update set position = excluded.position`);

export const removeItem = (tx: Transaction, id: string, assetId: string) =>
  tx.one(sql('remove item', { asset_id: 'uuid' })`
    delete from collection_items where collection_id = ${id} and asset_id = ${assetId} returning asset_id`);

/** The last row of a page. After a renumbering the asset tells where the next page starts. */
export type ItemPosition = {
  readonly numbering: number;
  readonly position: number;
  readonly assetId: string;
};

type ItemPageRequest = {
  readonly id: string;
  readonly after: ItemPosition | undefined;
  readonly limit: number;
};

const PLACE = { collection_numbering: 'int4', item_position: 'int8', added_at: 'timestamptz' } as const;
const PLACE_COLUMNS = fragment`collection.numbering as collection_numbering, item.position as item_position,
  item.added_at`;
const ROWS = fragment`from collections as collection
  join collection_items as item on item.collection_id = collection.id
  join assets on assets.id = item.asset_id`;

type PlaceRow = {
  readonly id: string;
  readonly collection_numbering: number;
  readonly item_position: number;
  readonly added_at: Date;
};

/** In their order, without assets in the trash. */
export const listItems = async (db: Queries, page: ItemPageRequest) =>
  (await db.all(
    composeClauses('collection items', { ...shownColumns, ...PLACE }, [
      clause('')`select ${columnsOf('assets', shownColumns)}, ${PLACE_COLUMNS} ${ROWS}`,
      ...conditions(page),
      clause('')`order by item.position, item.asset_id limit ${page.limit}`,
    ]),
  )) as readonly unknown[] as readonly (ShownAsset & PlaceRow)[];

/** Ready assets in their order; `isPublicOnly`: without private ones. */
export const listPlayable = async (
  db: Queries,
  { isPublicOnly, ...page }: ItemPageRequest & { readonly isPublicOnly: boolean },
) =>
  (await db.all(
    composeClauses('playlist items', { ...assetRow, ...PLACE }, [
      clause('')`select ${columnsOf('assets', assetRow)}, ${PLACE_COLUMNS} ${ROWS}`,
      ...conditions(page),
      clause('')`and assets.stream_status = 'ready'`,
      clause('')`and (assets.expires_at is null or assets.expires_at > now() + interval '1 s')`,
      ...(isPublicOnly ? [clause('public')`and assets.visibility = 'public'`] : []),
      clause('')`order by item.position, item.asset_id limit ${page.limit}`,
    ]),
  )) as readonly unknown[] as readonly (Asset & PlaceRow)[];

/** A page that lost its place repeats assets rather than leave some out. */
const conditions = ({ id, after }: ItemPageRequest) => [
  clause('')`where collection.id = ${id} and assets.deleted_at is null`,
  ...(after === undefined
    ? []
    : [
        clause('after')`and (item.position, item.asset_id) > (
          (select case when numbering = ${after.numbering} then ${after.position}::bigint else coalesce(
             (select position from collection_items
               where collection_id = ${id} and asset_id = ${after.assetId}),
             '-9223372036854775808'::bigint) end from collections where id = ${id}),
          ${after.assetId}::uuid)`,
      ]),
];
