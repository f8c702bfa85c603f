// Settings of how playback files reach players (contract B5, B9).
import { SEGMENT_ENCRYPTIONS } from '../assets/segment-encryption.ts';
import { type Secret, toSecret } from '../auth/secret.ts';
import type { Settings } from '../platform/settings/read-settings.ts';
import { choice, integer, list, type Setting, url } from '../platform/settings/setting.ts';
import type { S3Location } from '../storage/storage-url.ts';
import type { SegmentDelivery } from './plan-response.ts';

/** A CDN that is told about every revocation may keep public segments for longer. */
const PURGED_MAX_AGE_S = 86_400;

/** In the form of the secrets of outbound webhooks, so that the same code verifies both. */
const PURGE_SECRET = /^whsec_[A-Za-z0-9+/]{32,}={0,2}$/;

const purgeSecrets: Setting<readonly Secret[]> = {
  name: 'CDN_PURGE_SECRET',
  type: 'secret',
  about: 'Signs the requests to `CDN_PURGE_URL`.',
  byDefault: 'not signed',
  allowed: '`whsec_` followed by the base64 of at least 24 random bytes',
  isRotated: true,
  parse({ given, previous }, report) {
    const secrets = [given, previous].filter((value) => value !== undefined);
    if (secrets.some((secret) => !PURGE_SECRET.test(secret)))
      report('CDN_PURGE_SECRET must be whsec_ followed by the base64 of at least 24 random bytes');
    return secrets.map(toSecret);
  },
};

const accelPrefix: Setting<string> = {
  name: 'X_ACCEL_PREFIX',
  type: 'text',
  about: 'Internal location of nginx that contains the folder of the store, for `x-accel-redirect`.',
  byDefault: '/_mediary/',
  parse({ given = '/_mediary/' }, report) {
    if (!/^\/(?:[\w.-]+\/)+$/.test(given))
      report('X_ACCEL_PREFIX must be a path that starts and ends with a slash, such as /_mediary/');
    return given;
  },
};

const countryHeader: Setting<string | undefined> = {
  name: 'COUNTRY_HEADER',
  type: 'text',
  about:
    'Header in which a proxy of `TRUST_PROXY` names the country of the viewer, such as `CF-IPCountry`, for ' +
    '`access.countries` of assets. The proxy must overwrite what clients send ' +
    '([guide](guides/access-rules.md#countries)).',
  byDefault: 'countries are not known',
  parse({ given }, report) {
    if (given !== undefined && !/^[A-Za-z0-9-]{1,100}$/.test(given))
      report('COUNTRY_HEADER must be the name of a header such as CF-IPCountry');
    return given?.toLowerCase();
  },
};

const PLAYBACK_SETTINGS = {
  title: 'Playback and CDN',
  settings: {
    playbackTokenTtlSeconds: integer('PLAYBACK_TOKEN_TTL_S', 'Seconds that a playback token is valid.', {
      fallback: 21_600,
      min: 1,
      max: 365 * 86_400,
    }),
    countryHeader,
    delivery: {
      segments: choice(
        'SEGMENT_DELIVERY',
        'Who sends the segments of videos. `redirect`: the S3 store, by redirects to presigned URLs ' +
          '([guide](guides/s3-storage.md#segments-from-the-store)); `x-accel-redirect` (nginx) and ' +
          '`x-sendfile` ' +
          '(Apache, lighttpd): the web server in front, from the folder of the disk store ' +
          '([guide](guides/going-to-production.md#segments-from-nginx)).',
        { choices: ['service', 'redirect', 'x-accel-redirect', 'x-sendfile'], fallback: 'service' },
      ),
      segmentEncryption: choice(
        'SEGMENT_ENCRYPTION',
        '`private`: the segments of private videos are encrypted (HLS AES-128) on their way to players, ' +
          'which ' +
          'get the key with the playback token; such videos have no DASH, MP4 and M4A ' +
          '([guide](guides/encrypted-playback.md)).',
        { choices: SEGMENT_ENCRYPTIONS, fallback: 'off' },
      ),
      audioVariant: choice(
        'HLS_AUDIO_VARIANT',
        '`on`: HLS lists the sound of a video as its last variant, for connections that are too slow for ' +
          'pictures; no further files are stored ([guide](guides/renditions.md#sound-alone)).',
        { choices: ['off', 'on'], fallback: 'off' },
      ),
      accelPrefix,
      segmentCacheBytes: integer(
        'SEGMENT_CACHE_BYTES',
        'Memory for the segments of at most 1 MiB that are requested most; 0 turns it off.',
        { fallback: 64 * 1024 ** 2, min: 0, max: Number.MAX_SAFE_INTEGER },
      ),
      cdnBaseUrl: url(
        'CDN_BASE_URL',
        'Base of the playback URLs of renditions and images that the service itself serves: a CDN in ' +
          'front of ' +
          'it.',
        '`PUBLIC_BASE_URL`',
      ),
      purgeUrl: url(
        'CDN_PURGE_URL',
        'Gets a signed POST with what the CDN has to purge when an asset is deleted, made private, ' +
          'restricted, revoked or replaced ' +
          '([guide](guides/going-to-production.md#a-cdn-for-playback)); set it in API and worker processes.',
        'no purges',
      ),
      purgeSecrets,
      privateMaxAgeSeconds: integer(
        'CDN_PRIVATE_MAX_AGE_S',
        'Seconds that the CDN may keep segments of private assets under a URL with a token, which also ' +
          'ends ' +
          'with the token; sent as `CDN-Cache-Control`.',
        { fallback: 0, min: 0, max: PURGED_MAX_AGE_S },
      ),
      embedFrameAncestors: list(
        'EMBED_FRAME_ANCESTORS',
        'Sites that may embed the player page: origins such as `https://www.example.com` or ' +
          '`https://*.example.com`, `self`, `none` or `*` ([guide](guides/embed.md)).',
        { byDefault: '*', parse: parseFrameAncestors },
      ),
    },
  },
};

type OtherSettings = { readonly s3: S3Location | undefined; readonly isBehindProxy: boolean };

export function readPlaybackSettings(settings: Settings, others: OtherSettings) {
  const { delivery, playbackTokenTtlSeconds, countryHeader: country } = settings.read(PLAYBACK_SETTINGS);
  const { privateMaxAgeSeconds: privateSeconds, ...values } = delivery;
  settings.problems.push(...findDeliveryProblems(values.segments, others));
  if (country !== undefined && !others.isBehindProxy)
    settings.problems.push('COUNTRY_HEADER may be set only where TRUST_PROXY names the proxy that sends it');
  const publicSeconds = values.purgeUrl === undefined ? 0 : PURGED_MAX_AGE_S;
  return {
    playbackTokenTtlSeconds,
    countryHeader: country,
    delivery: { ...values, cdnMaxAge: { publicSeconds, privateSeconds } },
  };
}

function findDeliveryProblems(mode: SegmentDelivery, { s3, isBehindProxy }: OtherSettings): string[] {
  if (mode === 'redirect' && !s3?.direct)
    return ['SEGMENT_DELIVERY may be redirect only with a bucket in STORAGE_URL, without direct=false'];
  if (!mode.startsWith('x-')) return [];
  return [
    ...(s3 ? [`SEGMENT_DELIVERY may be ${mode} only with a disk store: unset STORAGE_URL`] : []),
    // The service serves requests that do not come from the proxy itself.
    ...(isBehindProxy ? [] : [`SEGMENT_DELIVERY may be ${mode} only where TRUST_PROXY names the web server`]),
  ];
}

const KEYWORDS = ['self', 'none'];
const FRAME_ANCESTOR = /^(?:\*|https?:\/\/(?:\*\.)?[a-z0-9.-]+(?::\d+)?)$/i;

/** The sources of `frame-ancestors` in the policy of embed pages. */
function parseFrameAncestors(named: readonly string[], report: (problem: string) => void): string {
  for (const source of named)
    if (!KEYWORDS.includes(source) && !FRAME_ANCESTOR.test(source))
      report(
        `EMBED_FRAME_ANCESTORS: "${source}" is not allowed. ` +
          'Give origins such as https://www.example.com or https://*.example.com, self, none or *',
      );
  if (named.includes('none') && named.length > 1)
    report('EMBED_FRAME_ANCESTORS may contain none only without other values');
  return named.length === 0
    ? '*'
    : named.map((source) => (KEYWORDS.includes(source) ? `'${source}'` : source)).join(' ');
}
