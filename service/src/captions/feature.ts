// Captions of videos: of callers, and those that video files contain.
import { offer } from '../platform/values/offer.ts';
import { storeArchivedCaption, storeEmbeddedCaptions } from './captions.ts';
import { captionRoutes } from './captions.routes.ts';
import type { CaptionsContext } from './context.ts';

export type Captions = ReturnType<typeof createCaptions>['operations'];

export function createCaptions(ctx: CaptionsContext) {
  return {
    operations: offer(ctx, { storeArchivedCaption, storeEmbeddedCaptions }),
    routes: captionRoutes(ctx),
    jobs: {},
  };
}
