// Images: processing of uploads, and variants in other sizes and formats.
import { createSingleFlight } from '../platform/concurrency/single-flight.ts';
import type { ImagesContext } from './context.ts';
import { imageRoutes } from './images.routes.ts';
import { improveVariantJob } from './improve-variant.job.ts';
import { processImageJob } from './process-image.job.ts';

/** Variants being rendered or waiting for it, of all owners. */
const MAX_VARIANTS_IN_FLIGHT = 256;

export function createImages(ctx: ImagesContext) {
  const variants = { ...ctx, inFlight: createSingleFlight({ maxConcurrent: MAX_VARIANTS_IN_FLIGHT }) };
  return {
    operations: {},
    routes: imageRoutes(variants),
    jobs: { 'process-image': processImageJob(ctx), 'improve-variant': improveVariantJob(variants) },
  };
}
