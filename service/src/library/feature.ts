// Library: listing, editing, deleting and restoring assets.
import type { LibraryContext } from './context.ts';
import { assetRoutes, listRoutes } from './library.routes.ts';
import { emptyTrash } from './trash.ts';

export const createLibrary = (ctx: LibraryContext) => ({
  operations: {},
  routes: [...listRoutes(ctx), ...assetRoutes(ctx)],
  jobs: {
    'empty-trash': async (): Promise<void> => {
      await emptyTrash(ctx);
    },
  },
});
