// Images: processing of uploads, and variants in other sizes and formats.
import { createSingleFlight } from '../platform/concurrency/single-flight.ts';
import type { ImagesContext } from './context.ts';
import { imageRoutes } from './images.routes.ts';
import { processImageJob } from './process-image.job.ts';

/** Variants being rendered or waiting for it, of all assets. */
const MAX_VARIANTS_IN_FLIGHT = 256;

export function createImages(ctx: ImagesContext) {
  const inFlight = createSingleFlight({ maxConcurrent: MAX_VARIANTS_IN_FLIGHT });
  return {
    operations: {},
    routes: imageRoutes({ ...ctx, inFlight }),
    jobs: { 'process-image': processImageJob(ctx) },
  };
}
