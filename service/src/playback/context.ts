// What the functions of playback need.
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { Secret } from '../auth/secret.ts';
import type { Config } from '../config.ts';
import type { Encoder } from '../encoding/encoder.ts';
import type { EncodingOperations } from '../encoding/feature.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import type { SingleFlight } from '../platform/concurrency/single-flight.ts';
import type { Logger } from '../platform/observability/logger.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { TakeToken } from '../platform/postgres/token-bucket.ts';
import type { AcquireSlot } from '../platform/process/fair-slots.ts';
import type { ProviderOperations } from '../providers/feature.ts';
import type { Storage } from '../storage/feature.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { Manifests } from './rendered-manifests.ts';
import type { FileDelivery } from './plan-response.ts';
import type { SegmentResponseCache } from './segment-response-cache.ts';

type PlaybackSettings = Pick<
  Config,
  'delivery' | 'countryHeader' | 'playbackTokenTtlSeconds' | 'minFreeBytes' | 'maxVariantBytes'
> & {
  readonly framesPerMinute: number;
  readonly urlSecrets: readonly Secret[];
  readonly publicBaseUrl: () => string;
  /** The folder of the disk store. */
  readonly storeFolder: string;
  readonly scratchRoot: string;
  /** Why this process has no encoder. */
  readonly encoderMissing: string | undefined;
};

export type PlaybackContext = {
  readonly settings: PlaybackSettings;
  readonly db: Database;
  readonly store: ObjectStore;
  readonly encoder: Pick<Encoder, 'createExtra'>;
  readonly now: () => Date;
  readonly log: Pick<Logger, 'warn'>;
  readonly lifecycle: Pick<Lifecycle, 'findAssetById' | 'findPlaybackAsset' | 'isCurrentAsset'>;
  readonly encoding: Pick<EncodingOperations, 'findGrowingIndex' | 'readIndex'>;
  readonly providers: Pick<ProviderOperations, 'findHostedUrls' | 'canInspect' | 'createProviderDownload'>;
  readonly storage: Pick<Storage, 'sendObject' | 'sendEncryptedObject' | 'sendBytes' | 'findCachedObject'>;
  readonly guards: Pick<Guards, 'ownAsset'>;
  readonly limitOwner: (ownerUserId: string) => Promise<void>;
};

/** Shared by all requests for frames, so that they hold few processes and little of the store. */
export type FrameLimits = {
  /** Owners take turns, and so do the videos of an owner. */
  readonly acquireSlot: AcquireSlot;
  /** Takes one of the frames that may be rendered of an asset per minute. */
  readonly takeRendering: TakeToken;
  readonly inFlight: SingleFlight;
  /** Stored frames of one video. */
  readonly maxFrames: number;
};

/** Adds what the wing creates once for all requests: caches, limits and the rules of delivery. */
export type ServingContext = PlaybackContext & {
  readonly delivery: FileDelivery;
  readonly segmentResponses: SegmentResponseCache;
  readonly frameLimits: FrameLimits;
  readonly manifests: Manifests;
};
