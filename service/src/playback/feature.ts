// Playback: URLs for owners, manifests and segments for viewers, downloads.
import type { AppContext } from '../app-context.ts';
import type { AssetViewContext } from '../assets/asset-view.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import * as growingOperations from '../encoding/jobs/growing-manifests.ts';
import { bind } from '../platform/bind.ts';
import type { ProviderOperations } from '../providers/feature.ts';
import { createSingleFlight } from '../platform/concurrency/single-flight.ts';
import { openRateLimiter } from '../platform/postgres/token-bucket.ts';
import { openFairSlots } from '../platform/process/fair-slots.ts';
import type { ObjectCache } from '../storage/object-cache.ts';
import type { ObjectResponses } from '../storage/object-response.ts';
import * as cacheOperations from './cache-headers.ts';
import * as composedOperations from './composed-files.ts';
import * as downloadOperations from './downloads.ts';
import { downloadRoutes } from './downloads.routes.ts';
import * as embedOperations from './embed.ts';
import { embedRoutes } from './embed.routes.ts';
import { findEncryptedFile } from './encrypted-files.ts';
import * as frameOperations from './frames.ts';
import { frameRoutes } from './frames.routes.ts';
import * as playbackOperations from './playback.ts';
import { playbackRoutes } from './playback.routes.ts';
import { createSegmentResponseCache } from './segment-response-cache.ts';
import { findInternalRedirect, findStoreOrigin, redirectToStore } from './segment-redirect.ts';

type Needs = AppContext &
  Pick<downloadOperations.DownloadUrlNeeds, 'limitOwner'> & {
    readonly view: Pick<AssetViewContext, 'playbackBaseUrl' | 'segmentEncryption'>;
    readonly lifecycle: Lifecycle;
    readonly hosted: ProviderOperations;
    readonly guards: Guards;
    readonly objects: ObjectResponses;
    readonly findCachedObject: ObjectCache['findCached'];
  };

/** Frames that one process renders at the same time, and requests of one video that wait. */
const FRAME_LIMITS = { processes: 2, perOwner: 1, maxWaiting: 8, waitMs: 5000 };
const MAX_FRAMES_IN_FLIGHT = 64;
/** Viewers choose the times, so that only this number of frames is stored of each video. */
const MAX_STORED_FRAMES = 250;

export function createPlayback(needs: Needs) {
  const { lifecycle, hosted, guards, config, objects, view } = needs;
  const shared = { ...needs, ...lifecycle, ...hosted, ...view };
  const segmentResponses = createSegmentResponseCache(shared);
  const playback = {
    ...bind({ ...shared, tokenTtlSeconds: config.playbackTokenTtlSeconds }, playbackOperations),
    ...bind(shared, growingOperations),
    ...bind(shared, composedOperations),
    ...bind(shared, { findEncryptedFile }),
    segmentEncryption: view.segmentEncryption,
    cacheSegment: segmentResponses.add,
    ...bind(
      {
        ...shared,
        segmentDelivery: config.delivery.segments,
        accelPrefix: config.delivery.accelPrefix,
        storeFolder: needs.locations.store,
      },
      { findInternalRedirect, findStoreOrigin, redirectToStore },
    ),
    ...bind({ ...shared, cdnMaxAge: config.delivery.cdnMaxAge }, cacheOperations),
  };
  const frameNeeds = { ...shared, ...config, ...createFrameLimits(needs) };
  const embedNeeds = {
    ...shared,
    ...playback,
    cdnBaseUrl: config.delivery.cdnBaseUrl,
    frameAncestors: config.delivery.embedFrameAncestors,
  };
  return {
    operations: {
      findPlayableAsset: playback.findPlayableAsset,
      findCachedSegment: segmentResponses.find,
    },
    routes: [
      ...downloadRoutes(bind(shared, downloadOperations), guards, objects),
      ...frameRoutes({ ...playback, ...bind(frameNeeds, frameOperations), objects }),
      ...embedRoutes({ ...playback, ...bind(embedNeeds, embedOperations) }),
      ...playbackRoutes(playback, guards, objects),
    ],
    jobs: {},
  };
}

const createFrameLimits = ({ db, log, config }: Needs) => ({
  acquireSlot: openFairSlots(FRAME_LIMITS.processes).addGroup(FRAME_LIMITS),
  inFlight: createSingleFlight({ maxConcurrent: MAX_FRAMES_IN_FLIGHT }),
  maxFrames: MAX_STORED_FRAMES,
  takeRendering: openRateLimiter({
    db,
    policy: { name: 'frames', limit: config.decoders.framesPerMinute, windowSeconds: 60 },
    onError: (err) => log.warn({ err }, 'the number of rendered frames is not known'),
  }),
});
