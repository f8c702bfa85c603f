// Collections: named, ordered lists of assets, and their playlists.
import { collectionRoutes, itemRoutes } from './collections.routes.ts';
import type { CollectionsContext } from './context.ts';

export const createCollections = (ctx: CollectionsContext) => ({
  operations: {},
  routes: [...collectionRoutes(ctx), ...itemRoutes(ctx)],
  jobs: {},
});
