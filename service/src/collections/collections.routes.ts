// Collections, their assets and their playlists.
import {
  addCollectionItems,
  createCollection,
  deleteCollection,
  getCollection,
  getPlaylist,
  listCollectionItems,
  listCollections,
  moveCollectionItem,
  removeCollectionItem,
  updateCollection,
} from '@mediary/contract/operations/collections';
import { toCallerView } from '../assets/asset-view.ts';
import { toCollectionView } from './collection.ts';
import { collectionGuards } from './collection-guards.hook.ts';
import * as items from './collection-items.ts';
import * as collections from './collections.ts';
import type { CollectionsContext } from './context.ts';
import { toPlaylistEtag } from './playlist.ts';

export function collectionRoutes(ctx: CollectionsContext) {
  const guards = collectionGuards(ctx);
  return [
    guards.ofOwner(createCollection, async ({ actor, body, resourceId }) =>
      toCollectionView(await collections.createCollection(ctx, actor, { request: body, id: resourceId })),
    ),
    guards.ofOwner(listCollections, async ({ actor, query }) => {
      const page = await collections.listCollectionPage(ctx, actor.ownerUserId, query);
      return { items: page.items.map(toCollectionView), next_cursor: page.nextCursor };
    }),
    guards.ownCollection(getCollection, async ({ collection }) =>
      toCollectionView(await collections.countAssetsOf(ctx.db, collection)),
    ),
    guards.changingCollection(updateCollection, async ({ collection, body }) =>
      toCollectionView(await collections.updateCollection(ctx, collection, body)),
    ),
    guards.changingCollection(deleteCollection, async ({ collection }) => {
      const id = await collections.deleteCollection(ctx, collection);
      return { id, deleted: true as const };
    }),
  ];
}

export function itemRoutes(ctx: CollectionsContext) {
  const guards = collectionGuards(ctx);
  return [
    guards.ownCollection(listCollectionItems, async ({ caller, collection, query }) => {
      const page = await items.listItemPage(ctx, collection, query);
      return {
        items: page.items.map(({ added_at, ...asset }) => ({
          asset: toCallerView(asset, ctx.view, caller),
          added_at: added_at.toISOString(),
        })),
        next_cursor: page.nextCursor,
      };
    }),
    guards.changingCollection(addCollectionItems, ({ caller, collection, body }) =>
      items.addItems(ctx, collection, { caller, assetIds: body.asset_ids, place: body }),
    ),
    guards.changingCollection(moveCollectionItem, ({ collection, params, body }) =>
      items.moveItem(ctx, collection, { assetId: params.asset_id, place: body }),
    ),
    guards.changingCollection(removeCollectionItem, ({ collection, params }) =>
      items.removeItem(ctx, collection, params.asset_id),
    ),
    guards.viewing(getPlaylist, async ({ playlist }) => playlist, {
      etag: ({ playlist }) => toPlaylistEtag(playlist),
    }),
  ];
}
