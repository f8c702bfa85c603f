// Lists assets page by page, with keyset cursors (contract B3).
import type { AssetQuery } from '@mediary/contract/schemas/library';
import { createBatcher, STATEMENT_LIMITS } from '../platform/concurrency/batcher.ts';
import type { ShownAsset } from '../assets/asset.ts';
import type { Input } from '../platform/http/route.ts';
import {
  createCursor,
  createPositionCursor,
  type CursorScope,
  readCursor,
  readPositionCursor,
} from '../auth/list-cursor.ts';
import { badRequest } from '../platform/http/errors.ts';
import { type AssetFilter, type ListQuery, toAssetFilter } from './asset-filter.ts';
import { type AssetOrder, type SortedOrder, toOrder } from './asset-order.ts';
import type { LibraryContext } from './context.ts';
import { findCollectionsOf } from './library.sql.ts';
import { countAssets, hasMoreAssets, listAssets, listSortedAssets } from './list.sql.ts';

export type AssetPage = {
  readonly items: readonly ShownAsset[];
  readonly nextCursor: string | null;
  readonly total: number | undefined;
};

type FoundAssets = Pick<AssetPage, 'items' | 'nextCursor'>;

/** An undefined owner lists the assets of all owners, for operators. */
export async function listAssetPage(
  ctx: LibraryContext,
  owner: string | undefined,
  query: ListQuery,
): Promise<AssetPage> {
  const filter = toAssetFilter(owner, query);
  const order = toOrder(query.sort);
  if (readsAllMatches(order, filter)) await assertFewMatches(ctx, filter);
  const [found, total] = await Promise.all([
    order.by === 'created_at'
      ? findByCreation(ctx, filter, query)
      : findSorted(ctx, { filter, order }, query),
    query.count ? countAssets(ctx.db, filter) : undefined,
  ]);
  await ctx.view.expectedTimes.prepare(found.items);
  return { ...found, total };
}

const scopeOf = (filter: AssetFilter, { sort }: ListQuery): CursorScope => ({
  list: 'assets',
  sort,
  ...filter,
});

async function findByCreation(
  { db, urlSecrets }: LibraryContext,
  filter: AssetFilter,
  query: ListQuery,
): Promise<FoundAssets> {
  const scope = scopeOf(filter, query);
  const after = query.cursor === undefined ? undefined : readCursor(urlSecrets, scope, query.cursor);
  const isOldestFirst = query.sort === 'created_at';
  const rows = await listAssets(db, filter, { after, limit: query.limit + 1, isOldestFirst });
  return toPage(rows, query, ({ id }) => createCursor(urlSecrets, scope, id));
}

async function findSorted(
  { db, urlSecrets }: LibraryContext,
  { filter, order }: { readonly filter: AssetFilter; readonly order: SortedOrder },
  query: ListQuery,
): Promise<FoundAssets> {
  const scope = scopeOf(filter, query);
  const [key, id] =
    query.cursor === undefined ? [] : readPositionCursor(urlSecrets, scope, query.cursor).map(String);
  const after = key === undefined || id === undefined ? undefined : { key, id };
  const rows = await listSortedAssets(db, filter, { order, after, limit: query.limit + 1 });
  return toPage(rows, query, (last) => createPositionCursor(urlSecrets, scope, [last.key, last.id]));
}

function toPage<T extends ShownAsset>(
  rows: readonly T[],
  { limit }: ListQuery,
  toCursor: (last: T) => string,
): FoundAssets {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last ? toCursor(last) : null };
}

/** No index has these orders or the times of updates. */
const readsAllMatches = ({ by }: AssetOrder, { updatedAfter }: AssetFilter): boolean =>
  by !== 'created_at' || updatedAfter !== undefined;

async function assertFewMatches({ db, settings }: LibraryContext, filter: AssetFilter): Promise<void> {
  const limit = settings.sortedListMaxAssets;
  if (!(await hasMoreAssets(db, filter, limit))) return;
  const [field, rule] =
    filter.updatedAfter === undefined
      ? ['sort', 'A list of so many has no other order than that of their creation: add filters.']
      : ['updated_after', 'A list of so many is not filtered by updated_after: follow the events.'];
  throw badRequest(`More than ${limit} assets pass the filters. ${rule}`, {
    field,
    reason: 'too_many_to_sort',
    limit,
  });
}

/**
 * For the guard of one asset: prepares its expected times, and adds its collections where the request asks
 * for them. Reads are batched.
 */
export function detailsLoader({ db, view }: LibraryContext) {
  const find = createBatcher((ids: readonly string[]) => findCollectionsOf(db, ids), STATEMENT_LIMITS);
  return async (
    asset: ShownAsset,
    { query }: Pick<Input, 'query'>,
  ): Promise<{ readonly collections?: string[] }> => {
    await view.expectedTimes.prepare([asset]);
    return (query as AssetQuery).expand === 'collections' ? { collections: await find(asset.id) } : {};
  };
}
