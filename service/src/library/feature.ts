// Library: listing, editing, deleting, holding and restoring assets.
import type { LibraryContext } from './context.ts';
import { offer } from '../platform/values/offer.ts';
import { assetRoutes, holdRoutes, listRoutes } from './library.routes.ts';
import { closeForErasure, emptyTrash, expireAssets } from './trash.ts';

export type Library = ReturnType<typeof createLibrary>['operations'];

export const createLibrary = (ctx: LibraryContext) => ({
  operations: offer(ctx, { closeForErasure }),
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
