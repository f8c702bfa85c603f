// What the functions of images need.
import type { PlaybackAsset } from '../assets/asset.ts';
import type { BytesExchange } from '../platform/http/route.ts';
import type { Secret } from '../auth/secret.ts';
import type { AsService } from '../auth/service.hook.ts';
import type { Config } from '../config.ts';
import type { ServiceJobs } from '../jobs.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import type { SingleFlight } from '../platform/concurrency/single-flight.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { Storage } from '../storage/feature.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { ImageProcessor } from './image-processor.ts';

export type ImagesContext = {
  readonly settings: Pick<
    Config,
    'maxVariantBytes' | 'variantRetrySeconds' | 'photoLocation' | 'imagePresets'
  >;
  readonly store: ObjectStore;
  readonly imageProcessor: ImageProcessor;
  readonly db: Database;
  readonly jobs: Pick<ServiceJobs, 'sendFor'>;
  readonly now: () => Date;
  readonly urlSecrets: readonly Secret[];
  readonly asService: AsService;
  readonly lifecycle: Pick<
    Lifecycle,
    'findAssetById' | 'removeUnlessDeferred' | 'applyReport' | 'verifyOriginal'
  >;
  readonly storage: Pick<Storage, 'sendObject' | 'prepareLocalFile'>;
  readonly playback: {
    /** Throws unless the token or the cookie opens the asset, and its access rules allow the viewer. */
    readonly findPlayableAsset: (
      id: string,
      viewer: BytesExchange & { readonly token: string | undefined },
    ) => Promise<PlaybackAsset>;
  };
};

/** Adds what the wing creates once for all requests: each variant is rendered once at a time. */
export type VariantsContext = ImagesContext & { readonly inFlight: SingleFlight };
