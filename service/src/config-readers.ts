// Readers of settings that need more than one line.
import type { ProviderName } from './assets/asset.ts';
import { DEFAULT_ENCODE_LIMITS, type EncodeLimits } from './encoding/plan/ladder/encode-cost.ts';
import { MEDIA_TYPES, type MediaType, SELECTABLE_TYPES, selectMediaTypes } from './media/media-type.ts';
import { readLimit, type Settings } from './platform/settings.ts';
import type { RegisteredProvider } from './providers/provider-module.ts';
import { parseS3Url, type S3Location } from './storage/storage-url.ts';

const DAY_S = 86_400;

export const readProcess = ({ oneOf, text, url, integer }: Settings) => ({
  role: oneOf('MEDIARY_ROLE', ['all', 'api', 'worker'], 'all'),
  port: integer('PORT', { fallback: 8080, min: 0, max: 65_535 }),
  host: text('HOST') ?? '127.0.0.1',
  healthPort:
    text('HEALTH_PORT') === undefined
      ? undefined
      : integer('HEALTH_PORT', { fallback: 0, min: 0, max: 65_535 }),
  publicBaseUrl: url('PUBLIC_BASE_URL'),
  encoderCallbackUrl: url('ENCODER_CALLBACK_URL'),
  maxConnections: integer('MAX_CONNECTIONS', { fallback: 4096, min: 1, max: 1_000_000 }),
  docs: oneOf('DOCS', ['on', 'off'], 'on') === 'on',
  start: {
    logLevel: oneOf('LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'], 'info'),
    logFormat: oneOf('LOG_FORMAT', ['auto', 'json', 'pretty'], 'auto'),
    /** Time in which the start waits for the database. */
    timeoutSeconds: integer('START_TIMEOUT_S', { fallback: 60, min: 0, max: 3600 }),
  },
});

export type OwnerLimits = Readonly<Record<'bytes' | 'assets' | 'pending', number | undefined>>;

export const readOwnerLimits = (settings: Settings): OwnerLimits => ({
  bytes: readLimit(settings, 'OWNER_MAX_BYTES'),
  assets: readLimit(settings, 'OWNER_MAX_ASSETS'),
  pending: readLimit(settings, 'OWNER_MAX_PENDING'),
});

export const readShutdown = ({ integer }: Settings) => ({
  drainSeconds: integer('DRAIN_S', { fallback: 0, min: 0, max: 600 }),
  stopTimeoutSeconds: integer('STOP_TIMEOUT_S', { fallback: 5, min: 0, max: DAY_S }),
});

export type StreamLimits = {
  /** Open event streams and long polls of this process. */
  readonly maxStreams: number;
  /** How many of these one user may open. */
  readonly maxStreamsPerCaller: number;
  /** A stream ends after this time, and its client authenticates again. */
  readonly maxStreamSeconds: number;
  /** Stored events that one user's streams are sent per minute; further ones wait. */
  readonly replayedPerMinute: number;
};

export const readStreamLimits = ({ integer }: Settings): StreamLimits => ({
  maxStreams: integer('EVENT_STREAMS_MAX', { fallback: 4000, min: 1, max: 1_000_000 }),
  maxStreamsPerCaller: integer('EVENT_STREAMS_PER_USER', { fallback: 100, min: 1, max: 1_000_000 }),
  maxStreamSeconds: integer('EVENT_STREAM_MAX_S', { fallback: 3600, min: 1, max: DAY_S }),
  replayedPerMinute: integer('EVENT_REPLAY_PER_MINUTE', { fallback: 12_000, min: 50, max: 10_000_000 }),
});

export type UploadSizes = {
  readonly maxUploadBytes: number;
  /** Larger announced files are offered a resumable upload first. */
  readonly resumableUploadBytes: number;
  /** With an S3 store: larger announced files, and files of unknown size, are uploaded in parts. */
  readonly multipartUploadBytes: number;
};

export const readUploadSizes = ({ integer }: Settings): UploadSizes => ({
  maxUploadBytes: integer('MAX_UPLOAD_BYTES', {
    fallback: 10 * 1024 ** 3,
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
  }),
  resumableUploadBytes: integer('RESUMABLE_UPLOAD_BYTES', {
    fallback: 100_000_000,
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
  }),
  multipartUploadBytes: integer('MULTIPART_UPLOAD_BYTES', {
    fallback: 64 * 1024 ** 2,
    min: 0,
    // The limit of S3 for one request.
    max: 5 * 1024 ** 3,
  }),
});

export const readEncodeLimits = ({ integer }: Settings): EncodeLimits => ({
  maxDurationSeconds: integer('MAX_VIDEO_DURATION_S', {
    fallback: DEFAULT_ENCODE_LIMITS.maxDurationSeconds,
    min: 1,
    max: 7 * DAY_S,
  }),
  maxCost: integer('MAX_ENCODE_COST', {
    fallback: DEFAULT_ENCODE_LIMITS.maxCost,
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
  }),
  stallSeconds: integer('ENCODE_STALL_S', {
    fallback: DEFAULT_ENCODE_LIMITS.stallSeconds,
    min: 1,
    max: DAY_S,
  }),
});

export type ImportLimits = {
  /** Concurrent downloads of imports in this process. */
  readonly importConcurrency: number;
  /** Time limit of one download. */
  readonly importTimeoutSeconds: number;
};

export const readImportLimits = ({ integer }: Settings): ImportLimits => ({
  importConcurrency: integer('IMPORT_MAX_CONCURRENT', { fallback: 4, min: 1, max: 64 }),
  // A job may run for a day.
  importTimeoutSeconds: integer('IMPORT_TIMEOUT_S', { fallback: DAY_S / 4, min: 1, max: DAY_S - 3600 }),
});

export function readAllowUnsigned(
  settings: Settings,
  modules: readonly RegisteredProvider[],
): readonly ProviderName[] {
  const known = modules.filter(({ canAllowUnsigned }) => canAllowUnsigned).map(({ name }) => name);
  const named = settings.list('WEBHOOKS_ALLOW_UNSIGNED');
  if (named.some((name) => !known.includes(name)))
    settings.problems.push(`WEBHOOKS_ALLOW_UNSIGNED may name ${known.join(' and ')} only`);
  return named.filter((name) => known.includes(name));
}

export function readOrigins({ list, problems }: Settings): readonly string[] {
  return list('CORS_ORIGINS').map((given) => {
    if (given === '*') return given;
    if (ORIGIN.test(given) && URL.canParse(given)) return toOrigin(new URL(given));
    problems.push(
      `CORS_ORIGINS: "${given}" is not an origin. ` +
        'Give scheme and host without a path, such as https://app.example.com, or *',
    );
    return given;
  });
}

/** As browsers send it: in lower case, without a default port. `origin` is `null` for schemes of apps. */
const toOrigin = ({ protocol, host }: URL): string => `${protocol}//${host}`;

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]+$/i;

/** Without a host. A URL has no relative paths: `file:./objects` would mean `/objects`. */
const FOLDER_URL = /^file:(?:\/\/(?:localhost)?)?\/(?!\/)/;

type StorageSettings = { readonly storageUrl: string | undefined; readonly s3: S3Location | undefined };

export function readStorageUrl({ text, problems }: Settings): StorageSettings {
  const url = text('STORAGE_URL');
  if (url?.startsWith('s3:')) return { storageUrl: undefined, s3: parseS3Url(url, problems) };
  if (url !== undefined && !url.startsWith('file:'))
    problems.push('STORAGE_URL must be a file: or an s3: URL');
  else if (url !== undefined && !FOLDER_URL.test(url))
    problems.push('STORAGE_URL must name a folder by its absolute path, such as file:///srv/media');
  return { storageUrl: url, s3: undefined };
}

export function readMediaTypes({ list, problems }: Settings): readonly MediaType[] {
  const named = list('ALLOWED_MIME_TYPES');
  if (named.length === 0) return MEDIA_TYPES;
  const { types, unknown } = selectMediaTypes(named);
  for (const name of unknown)
    problems.push(
      `ALLOWED_MIME_TYPES names "${name}", which is not supported. Supported: ${SELECTABLE_TYPES.join(', ')}`,
    );
  return types;
}

/** Limits of the processes that decode untrusted files. */
export type DecoderLimits = {
  /** Undefined: by the number of cores. */
  readonly processes: number | undefined;
  readonly idleMs: number;
  readonly probe: { readonly deadlineMs: number; readonly perOwner: number; readonly waitMs: number };
  readonly image: {
    /** Pixels of all frames of an image together. */
    readonly maxPixels: number;
    readonly deadlineMs: number;
    readonly perAsset: number;
    readonly maxWaiting: number;
    readonly waitMs: number;
  };
  /** Frames of one video that are rendered in a minute, by all processes together. */
  readonly framesPerMinute: number;
};

const MINUTE_MS = 60_000;

export const readDecoderLimits = ({ text, integer }: Settings): DecoderLimits => ({
  processes:
    text('DECODER_PROCESSES') === undefined
      ? undefined
      : integer('DECODER_PROCESSES', { fallback: 4, min: 4, max: 64 }),
  idleMs: integer('DECODER_IDLE_MS', { fallback: MINUTE_MS, min: 1, max: 60 * MINUTE_MS }),
  probe: {
    deadlineMs: integer('PROBE_DEADLINE_MS', { fallback: 2000, min: 100, max: MINUTE_MS }),
    perOwner: integer('PROBES_PER_OWNER', { fallback: 2, min: 1, max: 64 }),
    waitMs: integer('PROBE_WAIT_MS', { fallback: 10_000, min: 100, max: MINUTE_MS }),
  },
  image: {
    maxPixels: integer('MAX_IMAGE_PIXELS', { fallback: 110_000_000, min: 1, max: 500_000_000 }),
    deadlineMs: integer('IMAGE_DEADLINE_MS', { fallback: 20_000, min: 100, max: MINUTE_MS }),
    perAsset: integer('VARIANTS_PER_ASSET', { fallback: 2, min: 1, max: 64 }),
    maxWaiting: integer('VARIANT_QUEUE_LENGTH', { fallback: 14, min: 0, max: 10_000 }),
    waitMs: integer('VARIANT_WAIT_MS', { fallback: 20_000, min: 100, max: MINUTE_MS }),
  },
  framesPerMinute: integer('FRAMES_PER_MINUTE', { fallback: 60, min: 1, max: 10_000 }),
});
