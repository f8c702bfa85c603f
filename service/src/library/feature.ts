// Library: listing, editing, deleting, holding and restoring assets.
import type { LibraryContext } from './context.ts';
import { offer } from '../platform/values/offer.ts';
import { assetRoutes, holdRoutes, listRoutes } from './library.routes.ts';
import { closeForErasure, emptyTrash, expireAssets, hasExpired } from './trash.ts';
import { takeOverJob } from './versions/take-over.job.ts';
import { tidyVersions } from './versions/versions.ts';
import { versionRoutes } from './versions/versions.routes.ts';

export type Library = ReturnType<typeof createLibrary>['operations'];

export const createLibrary = (ctx: LibraryContext) => ({
  operations: offer(ctx, { closeForErasure }),
  routes: [...listRoutes(ctx), ...assetRoutes(ctx), ...holdRoutes(ctx), ...versionRoutes(ctx)],
  isNeeded: { 'expire-assets': () => hasExpired(ctx) },
  jobs: {
    'empty-trash': async (): Promise<void> => {
      await emptyTrash(ctx);
      await tidyVersions(ctx);
    },
    'take-over': takeOverJob(ctx),
    'expire-assets': async (): Promise<void> => {
      await expireAssets(ctx);
    },
  },
});
