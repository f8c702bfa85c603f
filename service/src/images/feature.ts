// Images: processing of uploads, and variants in other sizes and formats.
import type { AppContext } from '../app-context.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import { bind } from '../platform/bind.ts';
import { createSingleFlight } from '../platform/concurrency/single-flight.ts';
import type { ObjectResponses } from '../storage/object-response.ts';
import * as imageOperations from './images.ts';
import { type ImageService, imageRoutes } from './images.routes.ts';
import { processImageJob } from './process-image.job.ts';

type Needs = AppContext &
  Pick<ImageService, 'findPlayableAsset'> & {
    readonly lifecycle: Lifecycle;
    readonly objects: ObjectResponses;
    readonly files: Pick<imageOperations.ImageNeeds, 'prepareLocalFile'>;
  };

/** Variants being rendered or waiting for it, of all assets. */
const MAX_VARIANTS_IN_FLIGHT = 256;

export function createImages(needs: Needs) {
  const { store, imageProcessor, config, now, lifecycle, objects, files, findPlayableAsset } = needs;
  const images = bind(
    {
      findAssetById: lifecycle.findAssetById,
      removeUnlessDeferred: lifecycle.removeUnlessDeferred,
      store,
      prepareLocalFile: files.prepareLocalFile,
      processor: imageProcessor,
      inFlight: createSingleFlight({ maxConcurrent: MAX_VARIANTS_IN_FLIGHT }),
      maxVariantBytes: config.maxVariantBytes,
      variantRetrySeconds: config.variantRetrySeconds,
      now,
    },
    imageOperations,
  );
  return {
    operations: {},
    routes: imageRoutes({ ...images, findPlayableAsset, objects }),
    jobs: { 'process-image': processImageJob({ ...lifecycle, ...images }) },
  };
}
