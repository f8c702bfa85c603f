// What the functions of images need.
import type { PlaybackAsset } from '../assets/asset.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import type { SingleFlight } from '../platform/concurrency/single-flight.ts';
import type { LocalFile } from '../storage/local-file.ts';
import type { ObjectKey } from '../storage/object-key.ts';
import type { ObjectResponses } from '../storage/object-response.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { ImageProcessor } from './image-processor.ts';

type PlaybackCredentials = { readonly token: string | undefined; readonly cookie: string | undefined };

export type ImagesContext = {
  readonly settings: { readonly maxVariantBytes: number; readonly variantRetrySeconds: number };
  readonly store: ObjectStore;
  readonly imageProcessor: ImageProcessor;
  readonly now: () => Date;
  readonly lifecycle: Pick<
    Lifecycle,
    'findAssetById' | 'removeUnlessDeferred' | 'applyReport' | 'verifyOriginal'
  >;
  readonly storage: Pick<ObjectResponses, 'sendObject'> & {
    prepareLocalFile(key: ObjectKey): {
      open(signal?: AbortSignal): Promise<LocalFile>;
      close(): Promise<void>;
    };
  };
  readonly playback: {
    findPlayableAsset(id: string, credentials: PlaybackCredentials): Promise<PlaybackAsset>;
  };
};

/** Adds what the wing creates once for all requests: each variant is rendered once at a time. */
export type VariantsContext = ImagesContext & { readonly inFlight: SingleFlight };
