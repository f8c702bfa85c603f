// Restores a collection from the archive of its owner.
import type { ArchivedCollection } from '@mediary/contract/schemas/admin/owner-archive';
import { isPurged } from '../assets/asset.ts';
import { placeAssets } from './collection-items.ts';
import { countMembers, lockAssets } from './collection-items.sql.ts';
import { assertValid, insertUnlessThere } from './collections.ts';
import { lockCollection } from './collections.sql.ts';
import type { CollectionsContext } from './context.ts';

/** Neither limit applies. Assets that the owner does not have are left out. Can be repeated. */
export async function restoreCollection(
  ctx: CollectionsContext,
  { asset_ids: assetIds, ...archived }: ArchivedCollection,
): Promise<void> {
  assertValid(archived);
  const id = archived.id.toLowerCase();
  await insertUnlessThere(
    ctx,
    {
      id,
      owner_user_id: archived.owner_user_id,
      name: archived.name,
      description: archived.description ?? null,
      visibility: archived.visibility ?? 'private',
      metadata: archived.metadata ?? null,
      created_at: new Date(archived.created_at),
    },
    Number.MAX_SAFE_INTEGER,
  );
  await ctx.db.transaction(async (tx) => {
    const collection = await lockCollection(tx, id);
    // Another owner has the id, or callers have filled the collection meanwhile.
    if (collection?.owner_user_id !== archived.owner_user_id) return;
    const ids = [...new Set(assetIds.map((assetId) => assetId.toLowerCase()))];
    if ((await countMembers(tx, id)) > 0) return;
    const found = await lockAssets(tx, ids);
    const kept = new Set(
      found
        .filter((asset) => asset.owner_user_id === collection.owner_user_id)
        .filter((asset) => !isPurged(asset))
        .map((asset) => asset.id),
    );
    await placeAssets(tx, id, {
      target: { side: 'end', anchor: null },
      assetIds: ids.filter((assetId) => kept.has(assetId)),
      moved: null,
    });
  });
}
