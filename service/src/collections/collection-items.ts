// Lists, adds, moves and removes the assets of a collection. Changes of one collection wait for each other.
import type { CollectionItemsResult, ItemPlace } from '@mediary/contract/schemas/collections';
import type { ShownAsset } from '../assets/asset.ts';
import type { Caller } from '../auth/caller.ts';
import { type CursorScope, createPositionCursor, readPositionCursor } from '../auth/list-cursor.ts';
import { badRequest, conflict, forbidden, notFound } from '../platform/http/errors.ts';
import type { Transaction } from '../platform/postgres/database.ts';
import { isUuid } from '../platform/values/uuid.ts';
import type { Collection } from './collection.ts';
import * as items from './collection-items.sql.ts';
import type { ItemPosition } from './collection-items.sql.ts';
import { countAssetsOf, getFound } from './collections.ts';
import { lockCollection, touchCollection } from './collections.sql.ts';
import type { CollectionsContext } from './context.ts';
import { type Bounds, choosePositions, POSITION_GAP } from './item-positions.ts';

type ItemListRequest = { readonly limit: number; readonly cursor?: string | undefined };
type ItemList = {
  readonly items: readonly (ShownAsset & { readonly added_at: Date })[];
  readonly nextCursor: string | null;
};

/** In the order of the collection. */
export async function listItemPage(
  ctx: CollectionsContext,
  { id }: Collection,
  { limit, cursor }: ItemListRequest,
): Promise<ItemList> {
  const scope = { list: 'collection items', id };
  const after = readItemCursor(ctx, scope, cursor);
  const rows = await items.listItems(ctx.db, { id, after, limit: limit + 1 });
  return { items: rows.slice(0, limit), nextCursor: createItemCursor(ctx, scope, { rows, limit }) };
}

type PlacedRow = Awaited<ReturnType<typeof items.listItems>>[number];
type ReadRows = {
  readonly rows: readonly Pick<PlacedRow, 'id' | 'collection_numbering' | 'item_position'>[];
  readonly limit: number;
};

/** Null on the last page: `rows` has one more than the page where others follow. */
export function createItemCursor(
  { urlSecrets }: CollectionsContext,
  scope: CursorScope,
  { rows, limit }: ReadRows,
): string | null {
  const last = rows[limit - 1];
  if (rows.length <= limit || !last) return null;
  return createPositionCursor(urlSecrets, scope, [last.collection_numbering, last.item_position, last.id]);
}

export function readItemCursor(
  { urlSecrets }: CollectionsContext,
  scope: CursorScope,
  cursor: string | undefined,
): ItemPosition | undefined {
  if (cursor === undefined) return undefined;
  const [numbering, position, assetId] = readPositionCursor(urlSecrets, scope, cursor);
  return { numbering: Number(numbering), position: Number(position), assetId: String(assetId) };
}

type Addition = {
  readonly caller: Caller;
  readonly assetIds: readonly string[];
  readonly place: ItemPlace;
};

/** All or none. Assets that are in the collection keep their place. */
export async function addItems(
  ctx: CollectionsContext,
  { id }: Collection,
  { caller, assetIds, place }: Addition,
): Promise<CollectionItemsResult> {
  const target = parsePlace(place);
  const ids = [...new Set(assetIds.map(parseAssetId))];
  const maxAssets = ctx.settings.collectionLimits.assets;
  return ctx.db.transaction(async (tx) => {
    const collection = getFound(await lockCollection(tx, id));
    await assertAddable(tx, { collection, caller, ids });
    const members = await items.findMembers(tx, id, ids);
    const added = ids.filter((assetId) => !members.has(assetId));
    if ((await items.countMembers(tx, id)) + added.length > maxAssets) throw collectionFull(maxAssets);
    if (added.length > 0) await placeAssets(tx, id, { target, assetIds: added, moved: null });
    return toResult(tx, id, added);
  });
}

const collectionFull = (limit: number) =>
  conflict(`The collection would have more than ${limit} assets, the maximum. Remove some first.`, {
    reason: 'collection_full',
    field: 'asset_ids',
    limit,
  });

/** Throws NOT_FOUND. `place` without members moves to the end. */
export async function moveItem(
  { db }: CollectionsContext,
  { id }: Collection,
  { assetId, place }: { readonly assetId: string; readonly place: ItemPlace },
): Promise<CollectionItemsResult> {
  const target = parsePlace(place);
  const moved = parseItemId(assetId);
  if (target.anchor === moved)
    throw badRequest(`${target.side} must be another asset than the moved one`, { field: target.side });
  return db.transaction(async (tx) => {
    getFound(await lockCollection(tx, id));
    if (!(await items.findMembers(tx, id, [moved])).has(moved)) throw notInCollection();
    await placeAssets(tx, id, { target, assetIds: [moved], moved });
    return toResult(tx, id, [moved]);
  });
}

/** Changes nothing if the asset is not in the collection. */
export async function removeItem(
  { db }: CollectionsContext,
  { id }: Collection,
  assetId: string,
): Promise<CollectionItemsResult> {
  const removedId = parseItemId(assetId);
  return db.transaction(async (tx) => {
    getFound(await lockCollection(tx, id));
    const removed = await items.removeItem(tx, id, removedId);
    return toResult(tx, id, removed ? [removedId] : []);
  });
}

async function toResult(
  tx: Transaction,
  id: string,
  changed: readonly string[],
): Promise<CollectionItemsResult> {
  if (changed.length > 0) await touchCollection(tx, id);
  const { owner_user_id, asset_count } = await countAssetsOf(tx, { id });
  return { id, owner_user_id, changed_asset_ids: [...changed], asset_count };
}

type AddedAssets = {
  readonly collection: Collection;
  readonly caller: Caller;
  readonly ids: readonly string[];
};

/** In the order of contract B2: existence, then ownership. */
async function assertAddable(tx: Transaction, { collection, caller, ids }: AddedAssets): Promise<void> {
  const found = new Map((await items.lockAssets(tx, ids)).map((asset) => [asset.id, asset]));
  const missing = ids.find((id) => !found.has(id) || found.get(id)?.deleted_at);
  if (missing !== undefined) throw noSuchAsset(missing);
  const foreign = ids.find((id) => found.get(id)?.owner_user_id !== collection.owner_user_id);
  if (foreign === undefined) return;
  const details = { field: 'asset_ids', asset_id: foreign } as const;
  if (caller.kind === 'user') throw forbidden('You do not own this asset', details);
  throw badRequest(`The asset ${foreign} has another owner than the collection.`, {
    ...details,
    reason: 'other_owner',
  });
}

const noSuchAsset = (assetId: string) => notFound('No such asset', { field: 'asset_ids', asset_id: assetId });
const notInCollection = () => notFound('The asset is not in the collection');

function parseAssetId(id: string): string {
  if (!isUuid(id)) throw noSuchAsset(id);
  return id.toLowerCase();
}

function parseItemId(id: string): string {
  if (!isUuid(id)) throw notInCollection();
  return id.toLowerCase();
}

type PlaceTarget =
  | { readonly side: 'start' | 'end'; readonly anchor: null }
  | { readonly side: 'before' | 'after'; readonly anchor: string };

/** Throws BAD_REQUEST for more than one place. */
function parsePlace({ position, before, after }: ItemPlace): PlaceTarget {
  if ([position, before, after].filter((given) => given !== undefined).length > 1)
    throw badRequest('Send one of position, before and after.', {
      field: position === undefined ? 'after' : 'position',
      allowed: ['position', 'before', 'after'],
    });
  if (before !== undefined) return { side: 'before', anchor: before.toLowerCase() };
  if (after !== undefined) return { side: 'after', anchor: after.toLowerCase() };
  return { side: position ?? 'end', anchor: null };
}

type Placing = { readonly target: PlaceTarget; readonly moved: string | null };

/** Throws CONFLICT where the neighbour has left the collection. */
async function findBounds(tx: Transaction, id: string, { target, moved }: Placing): Promise<Bounds> {
  const { side, anchor } = target;
  if (anchor === null) {
    const ends = await items.findEnds(tx, id, moved);
    return side === 'start'
      ? { low: null, high: ends?.low ?? null }
      : { low: ends?.high ?? null, high: null };
  }
  const find = side === 'before' ? items.findBefore : items.findAfter;
  const bounds = await find(tx, id, { anchor, moved });
  if (bounds) return bounds;
  throw conflict(`The asset of ${side} is not in the collection. Read its list again.`, {
    field: side,
    reason: 'not_in_collection',
  });
}

type Placement = Placing & { readonly assetIds: readonly string[] };

/** Renumbers the collection where the gap is too small. */
export async function placeAssets(tx: Transaction, id: string, placement: Placement): Promise<void> {
  const { assetIds } = placement;
  let positions = choosePositions(await findBounds(tx, id, placement), assetIds.length);
  if (!positions) {
    await items.renumber(tx, id, POSITION_GAP);
    positions = choosePositions(await findBounds(tx, id, placement), assetIds.length) ?? [];
  }
  const placed = positions.map((position, index) => ({ assetId: assetIds[index] ?? '', position }));
  await items.placeItems(tx, id, placed);
}
