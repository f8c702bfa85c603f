// Lists assets page by page, with keyset cursors (contract B3).
import type { AssetQuery } from '@mediary/contract/schemas/library';
import { createBatcher, STATEMENT_LIMITS } from '../platform/concurrency/batcher.ts';
import type { ShownAsset } from '../assets/asset.ts';
import type { Input } from '../platform/http/route.ts';
import { createCursor, readCursor } from '../auth/list-cursor.ts';
import { type ListQuery, toAssetFilter } from './asset-filter.ts';
import type { LibraryContext } from './context.ts';
import { countAssets, listAssets, findCollectionsOf } from './library.sql.ts';

export type AssetPage = {
  readonly items: readonly ShownAsset[];
  readonly nextCursor: string | null;
  readonly total: number | undefined;
};

/** An undefined owner lists the assets of all owners, for operators. */
export async function listAssetPage(
  { db, urlSecrets, view }: LibraryContext,
  owner: string | undefined,
  query: ListQuery,
): Promise<AssetPage> {
  const filter = toAssetFilter(owner, query);
  const scope = { list: 'assets', sort: query.sort, ...filter };
  const after = query.cursor === undefined ? undefined : readCursor(urlSecrets, scope, query.cursor);
  const [rows, total] = await Promise.all([
    listAssets(db, filter, { after, limit: query.limit + 1, isOldestFirst: query.sort === 'created_at' }),
    query.count ? countAssets(db, filter) : undefined,
  ]);
  const items = rows.slice(0, query.limit);
  const last = items.at(-1);
  await view.expectedTimes.prepare(items);
  return {
    items,
    total,
    nextCursor: rows.length > query.limit && last ? createCursor(urlSecrets, scope, last.id) : null,
  };
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
