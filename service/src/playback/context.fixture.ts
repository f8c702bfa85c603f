// The context of playback in tests.
import { contextOf } from '../platform/values/context.fixture.ts';
import type { ServingContext } from './context.ts';

const NOW = new Date('2026-01-01T00:00:00Z');

export const DELIVERY: ServingContext['delivery'] = {
  segments: 'service',
  segmentEncryption: 'off',
  audioVariant: 'off',
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
  countryHeader: undefined,
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

export const createPlaybackContext = (
  given: Parameters<typeof contextOf<ServingContext>>[0],
): ServingContext => contextOf<ServingContext>({ settings: SETTINGS, delivery: DELIVERY, ...given });
