// Collections: named, ordered lists of assets, and their playlists.
import { offer } from '../platform/values/offer.ts';
import { collectionRoutes, itemRoutes } from './collections.routes.ts';
import type { CollectionsContext } from './context.ts';
import { restoreCollection } from './restore-collection.ts';

export type Collections = ReturnType<typeof createCollections>['operations'];

export const createCollections = (ctx: CollectionsContext) => ({
  operations: offer(ctx, { restoreCollection }),
  routes: [...collectionRoutes(ctx), ...itemRoutes(ctx)],
  jobs: {},
});
