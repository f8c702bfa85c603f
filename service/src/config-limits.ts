// Settings of limits that take more than one line to read.
import { DEFAULT_ENCODE_LIMITS, type EncodeLimits } from './encoding/plan/encode-cost.ts';
import { readLimit } from './platform/rate-setting.ts';
import type { Settings } from './platform/settings.ts';

const DAY = 86_400;

export type OwnerLimits = Readonly<Record<'bytes' | 'assets' | 'pending', number | undefined>>;

export function readOwnerLimits(settings: Settings): OwnerLimits {
  const limits = {
    bytes: readLimit(settings, 'OWNER_MAX_BYTES'),
    assets: readLimit(settings, 'OWNER_MAX_ASSETS'),
    pending: readLimit(settings, 'OWNER_MAX_PENDING'),
  };
  // Sessions carry the limits in the same parameter, which the URL would replace.
  if (Object.values(limits).some(Boolean) && /[?&]options=/.test(settings.text('DATABASE_URL') ?? ''))
    settings.problems.push('DATABASE_URL must not contain options= where OWNER_MAX_… is set');
  return limits;
}

export const readEncodeLimits = ({ integer }: Settings): EncodeLimits => ({
  maxDurationSeconds: integer('MAX_VIDEO_DURATION_S', {
    fallback: DEFAULT_ENCODE_LIMITS.maxDurationSeconds,
    min: 1,
    max: 7 * DAY,
  }),
  maxCost: integer('MAX_ENCODE_COST', {
    fallback: DEFAULT_ENCODE_LIMITS.maxCost,
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
  }),
  stallSeconds: integer('ENCODE_STALL_S', {
    fallback: DEFAULT_ENCODE_LIMITS.stallSeconds,
    min: 1,
    max: DAY,
  }),
});

export const readEncodeConcurrency = ({ text, integer }: Settings): number | undefined =>
  text('ENCODE_CONCURRENCY') === undefined
    ? undefined
    : integer('ENCODE_CONCURRENCY', { fallback: 1, min: 1, max: 64 });

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
    maxPixels: integer('MAX_IMAGE_PIXELS', { fallback: 50_000_000, min: 1, max: 500_000_000 }),
    deadlineMs: integer('IMAGE_DEADLINE_MS', { fallback: 20_000, min: 100, max: MINUTE_MS }),
    perAsset: integer('VARIANTS_PER_ASSET', { fallback: 2, min: 1, max: 64 }),
    maxWaiting: integer('VARIANT_QUEUE_LENGTH', { fallback: 14, min: 0, max: 10_000 }),
    waitMs: integer('VARIANT_WAIT_MS', { fallback: 20_000, min: 100, max: MINUTE_MS }),
  },
});
