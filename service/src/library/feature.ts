// Library: listing, editing, deleting, holding and restoring assets.
import type { LibraryContext } from './context.ts';
import { assetRoutes, holdRoutes, listRoutes } from './library.routes.ts';
import { emptyTrash, expireAssets } from './trash.ts';

export const createLibrary = (ctx: LibraryContext) => ({
  operations: {},
  routes: [...listRoutes(ctx), ...assetRoutes(ctx), ...holdRoutes(ctx)],
  jobs: {
    'empty-trash': async (): Promise<void> => {
      await emptyTrash(ctx);
    },
    'expire-assets': async (): Promise<void> => {
      await expireAssets(ctx);
    },
  },
});
