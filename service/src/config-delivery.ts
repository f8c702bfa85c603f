// Reads the settings of how playback files reach players (contract B5, B9).
import { SEGMENT_ENCRYPTIONS, type SegmentEncryption } from './assets/segment-encryption.ts';
import { toSecret, type Secret } from './auth/secret.ts';
import type { Settings } from './platform/settings.ts';
import type { CdnMaxAge } from './playback/cache-headers.ts';
import type { SegmentDelivery } from './playback/plan-response.ts';
import type { S3Location } from './storage/storage-url.ts';

const MIB = 1024 * 1024;

export type PlaybackDelivery = {
  /** Base of the playback URLs of our own renditions and images; undefined: the public base URL. */
  readonly cdnBaseUrl: string | undefined;
  readonly segments: SegmentDelivery;
  readonly segmentEncryption: SegmentEncryption;
  /** The internal location of nginx that contains the folder of the store; ends in a slash. */
  readonly accelPrefix: string;
  /** Memory for the segments that are used most; 0: none. */
  readonly segmentCacheBytes: number;
  readonly cdnMaxAge: CdnMaxAge;
  /** Where purges are sent; undefined: nowhere. */
  readonly purgeUrl: string | undefined;
  /** They sign the purges; empty: not signed. */
  readonly purgeSecrets: readonly Secret[];
  /** The sources of `frame-ancestors` in the policy of embed pages. */
  readonly embedFrameAncestors: string;
};

/** A CDN that is told about every revocation may keep public segments for longer. */
const PURGED_MAX_AGE_S = 86_400;

export function readPlaybackDelivery(settings: Settings, s3: S3Location | undefined): PlaybackDelivery {
  const { url, integer, oneOf } = settings;
  const purgeUrl = url('CDN_PURGE_URL');
  return {
    cdnBaseUrl: url('CDN_BASE_URL'),
    segments: readSegmentDelivery(settings, s3),
    segmentEncryption: oneOf('SEGMENT_ENCRYPTION', SEGMENT_ENCRYPTIONS, 'off'),
    accelPrefix: readAccelPrefix(settings),
    segmentCacheBytes: integer('SEGMENT_CACHE_BYTES', {
      fallback: 64 * MIB,
      min: 0,
      max: Number.MAX_SAFE_INTEGER,
    }),
    cdnMaxAge: {
      publicSeconds: purgeUrl === undefined ? 0 : PURGED_MAX_AGE_S,
      privateSeconds: integer('CDN_PRIVATE_MAX_AGE_S', { fallback: 0, min: 0, max: PURGED_MAX_AGE_S }),
    },
    purgeUrl,
    purgeSecrets: readPurgeSecrets(settings),
    embedFrameAncestors: readFrameAncestors(settings),
  };
}

/** In the form of the secrets of outbound webhooks, so that the same code verifies both. */
function readPurgeSecrets({ rotating, problems }: Settings): readonly Secret[] {
  const secrets = rotating('CDN_PURGE_SECRET');
  if (secrets.some((secret) => !/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(secret)))
    problems.push('CDN_PURGE_SECRET must be whsec_ followed by the base64 of at least 24 random bytes');
  return secrets.map(toSecret);
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

const KEYWORDS = ['self', 'none'];
const FRAME_ANCESTOR = /^(?:\*|https?:\/\/(?:\*\.)?[a-z0-9.-]+(?::\d+)?)$/i;

function readFrameAncestors({ list, problems }: Settings): string {
  const named = list('EMBED_FRAME_ANCESTORS');
  for (const source of named)
    if (!KEYWORDS.includes(source) && !FRAME_ANCESTOR.test(source))
      problems.push(
        `EMBED_FRAME_ANCESTORS: "${source}" is not allowed. ` +
          'Give origins such as https://www.example.com or https://*.example.com, self, none or *',
      );
  if (named.includes('none') && named.length > 1)
    problems.push('EMBED_FRAME_ANCESTORS may contain none only without other values');
  return named.length === 0
    ? '*'
    : named.map((source) => (KEYWORDS.includes(source) ? `'${source}'` : source)).join(' ');
}
