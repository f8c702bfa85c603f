// The context of playback for tests: members that a test does not replace fail when they are used.
import type { ServingContext } from './context.ts';

const NOW = new Date('2026-01-01T00:00:00Z');

const unused = (): never => {
  throw new Error('the test does not replace this member');
};

const STORE: ServingContext['store'] = {
  put: unused,
  putSmall: unused,
  putFile: unused,
  size: unused,
  read: unused,
  stream: unused,
  remove: unused,
  removeAll: unused,
  list: unused,
  listSizes: unused,
  check: unused,
};

export const DELIVERY: ServingContext['delivery'] = {
  segments: 'service',
  segmentEncryption: 'off',
  cdnMaxAge: { publicSeconds: 0, privateSeconds: 0 },
  accelPrefix: '/_mediary/',
  storeFolder: '/srv/media',
  localFile: () => undefined,
  isStoreReachable: false,
  urlSecrets: [],
  now: () => NOW,
  findHostedUrls: () => undefined,
};

export const SETTINGS: ServingContext['settings'] = {
  delivery: {
    ...DELIVERY,
    cdnBaseUrl: undefined,
    segmentCacheBytes: 0,
    purgeUrl: undefined,
    purgeSecrets: [],
    embedFrameAncestors: '*',
  },
  playbackTokenTtlSeconds: 60,
  minFreeBytes: 0,
  maxVariantBytes: 1000,
  framesPerMinute: 60,
  urlSecrets: [],
  publicBaseUrl: () => 'https://media.example.com',
  storeFolder: '/srv/media',
  scratchRoot: '/nowhere',
  encoderMissing: undefined,
};

export const createPlaybackContext = (overrides: Partial<ServingContext> = {}): ServingContext => ({
  settings: SETTINGS,
  db: { all: unused, one: unused, transaction: unused, close: unused },
  store: STORE,
  encoder: { createExtra: unused },
  now: () => NOW,
  log: { warn: unused },
  lifecycle: { findAssetById: unused, findPlaybackAsset: unused, isCurrentAsset: unused },
  providers: { findHostedUrls: () => undefined, canInspect: () => false, createProviderDownload: unused },
  storage: { sendObject: unused, sendEncryptedObject: unused, findCachedObject: () => undefined },
  guards: { ownAsset: unused },
  limitOwner: async () => undefined,
  delivery: DELIVERY,
  segmentResponses: { add: () => undefined, find: () => undefined },
  frameLimits: {
    acquireSlot: async () => () => undefined,
    takeRendering: async () => undefined,
    inFlight: (_key, work) => work(),
    maxFrames: 2,
  },
  findGrowingManifest: async () => undefined,
  ...overrides,
});
