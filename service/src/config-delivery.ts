// Reads the settings of how playback files reach players (contract B5, B9).
import type { Settings } from './platform/settings.ts';
import type { SegmentDelivery } from './playback/segment-redirect.ts';
import type { S3Location } from './storage/storage-url.ts';

const MIB = 1024 * 1024;

export type PlaybackDelivery = {
  /** Base of the playback URLs of our own renditions and images; undefined: the public base URL. */
  readonly cdnBaseUrl: string | undefined;
  readonly segments: SegmentDelivery;
  /** The internal location of nginx that contains the folder of the store; ends in a slash. */
  readonly accelPrefix: string;
  /** Memory for the segments that are used most; 0: none. */
  readonly segmentCacheBytes: number;
};

export function readPlaybackDelivery(settings: Settings, s3: S3Location | undefined): PlaybackDelivery {
  const { url, integer } = settings;
  return {
    cdnBaseUrl: url('CDN_BASE_URL'),
    segments: readSegmentDelivery(settings, s3),
    accelPrefix: readAccelPrefix(settings),
    segmentCacheBytes: integer('SEGMENT_CACHE_BYTES', {
      fallback: 64 * MIB,
      min: 0,
      max: Number.MAX_SAFE_INTEGER,
    }),
  };
}

function readSegmentDelivery(
  { text, oneOf, problems }: Settings,
  s3: S3Location | undefined,
): SegmentDelivery {
  const modes = ['service', 'redirect', 'x-accel-redirect', 'x-sendfile'] as const;
  const mode = oneOf('SEGMENT_DELIVERY', modes, 'service');
  if (mode === 'redirect' && !s3?.direct)
    problems.push('SEGMENT_DELIVERY may be redirect only with a bucket in STORAGE_URL, without direct=false');
  if (!mode.startsWith('x-')) return mode;
  if (s3) problems.push(`SEGMENT_DELIVERY may be ${mode} only with a disk store: unset STORAGE_URL`);
  // The service serves requests that do not come from the proxy itself.
  if (text('TRUST_PROXY') === undefined)
    problems.push(`SEGMENT_DELIVERY may be ${mode} only where TRUST_PROXY names the web server`);
  return mode;
}

function readAccelPrefix({ text, problems }: Settings): string {
  const prefix = text('X_ACCEL_PREFIX') ?? '/_mediary/';
  if (!/^\/(?:[\w.-]+\/)+$/.test(prefix))
    problems.push('X_ACCEL_PREFIX must be a path that starts and ends with a slash, such as /_mediary/');
  return prefix;
}
