// Lists what an owner has, page by page: the last page costs what the first does (contract B3).
import type { Secret } from '../auth/secret.ts';
import { deriveKey, verifyToken, signToken } from '../auth/signed-token.ts';
import { badRequest } from '../platform/errors.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { ShownAsset } from '../assets/asset.ts';
import { toAssetFilter, type ListQuery } from './asset-filter.ts';
import { countAssets, listAssets } from './asset-list.sql.ts';

export type ListNeeds = { readonly db: Database; readonly urlSecrets: readonly Secret[] };
export type AssetPage = {
  readonly items: readonly ShownAsset[];
  readonly nextCursor: string | null;
  readonly total: number | undefined;
};

export async function listAssetPage(
  { db, urlSecrets }: ListNeeds,
  owner: string,
  query: ListQuery,
): Promise<AssetPage> {
  const keys = urlSecrets.map((root) => deriveKey(root, 'cursor'));
  const filter = toAssetFilter(owner, query);
  const after = query.cursor === undefined ? undefined : readCursor(keys, owner, query.cursor);
  const [rows, total] = await Promise.all([
    listAssets(db, filter, { after, limit: query.limit + 1, isOldestFirst: query.sort === 'created_at' }),
    query.count ? countAssets(db, filter) : undefined,
  ]);
  const items = rows.slice(0, query.limit);
  const last = items.at(-1);
  return {
    items,
    total,
    nextCursor:
      rows.length > query.limit && last ? signToken(keys[0] as Secret, `${last.id}:${owner}`) : null,
  };
}

/** A cursor is good for the owner it was made for, and for nobody else. */
function readCursor(keys: readonly Secret[], owner: string, cursor: string): string {
  const payload = verifyToken(keys, cursor);
  if (payload?.slice(37) !== owner)
    throw badRequest('cursor is not one that this list gave', { field: 'cursor' });
  return payload.slice(0, 36);
}
