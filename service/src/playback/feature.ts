// Playback: URLs for owners, manifests and segments for viewers, downloads.
import { offer } from '../platform/values/offer.ts';
import { createSingleFlight } from '../platform/concurrency/single-flight.ts';
import { openRateLimiter } from '../platform/postgres/token-bucket.ts';
import { openFairSlots } from '../platform/process/fair-slots.ts';
import type { FrameLimits, PlaybackContext, ServingContext } from './context.ts';
import { downloadRoutes } from './downloads/downloads.routes.ts';
import { embedRoutes } from './embed/embed.routes.ts';
import { frameRoutes } from './frames/frames.routes.ts';
import type { FileDelivery } from './plan-response.ts';
import { findPlayableAsset, getPlayback, resolveHostedUrls } from './playback.ts';
import { playbackRoutes } from './playback.routes.ts';
import { openManifests } from './rendered-manifests.ts';
import { createSegmentResponseCache } from './segment-response-cache.ts';

export type PlaybackOperations = ReturnType<typeof createPlayback>['operations'];

export function createPlayback(ctx: PlaybackContext) {
  const segmentResponses = createSegmentResponseCache({
    isCurrentAsset: ctx.lifecycle.isCurrentAsset,
    findCachedObject: ctx.storage.findCachedObject,
    urlSecrets: ctx.settings.urlSecrets,
    now: ctx.now,
  });
  const serving: ServingContext = {
    ...ctx,
    delivery: toDelivery(ctx),
    segmentResponses,
    frameLimits: openFrameLimits(ctx),
    manifests: openManifests(ctx),
  };
  return {
    operations: {
      ...offer(ctx, { findPlayableAsset, getPlayback }),
      findCachedSegment: segmentResponses.find,
    },
    routes: [
      ...downloadRoutes(ctx),
      ...frameRoutes(serving),
      ...embedRoutes(serving),
      ...playbackRoutes(serving),
    ],
    jobs: {},
  };
}

function toDelivery(ctx: PlaybackContext): FileDelivery {
  const { store, now } = ctx;
  const { delivery, storeFolder, urlSecrets } = ctx.settings;
  const { segments, segmentEncryption, audioVariant, cdnMaxAge, accelPrefix } = delivery;
  return {
    segments,
    segmentEncryption,
    audioVariant,
    cdnMaxAge,
    accelPrefix,
    storeFolder,
    localFile: (key) => store.localFile?.(key),
    isStoreReachable: store.direct !== undefined,
    urlSecrets,
    now,
    findHostedUrls: (asset) => resolveHostedUrls(ctx, asset),
  };
}

/** Frames that one process renders at the same time, and requests of one video that wait. */
const FRAME_SLOTS = { processes: 2, perOwner: 1, maxWaiting: 8, waitMs: 5000 };
/** Frames being rendered or waiting for it, of all owners. */
const MAX_FRAMES_IN_FLIGHT = 64;
/** Viewers choose the times, so that only this number of frames is stored of each video. */
const MAX_STORED_FRAMES = 250;

const openFrameLimits = ({ db, log, settings }: PlaybackContext): FrameLimits => ({
  acquireSlot: openFairSlots(FRAME_SLOTS.processes).addGroup(FRAME_SLOTS),
  inFlight: createSingleFlight({ maxConcurrent: MAX_FRAMES_IN_FLIGHT }),
  maxFrames: MAX_STORED_FRAMES,
  takeRendering: openRateLimiter({
    db,
    policy: { name: 'frames', limit: settings.framesPerMinute, windowSeconds: 60 },
    onError: (err) => log.warn({ err }, 'the number of rendered frames is not known'),
  }),
});
