// Settings of limits that take more than one line to read.
import { DEFAULT_ENCODE_LIMITS, type EncodeLimits } from './encoding/plan/encode-cost.ts';
import { type Settings, readLimit } from './platform/settings.ts';

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
});

export const readEncodeConcurrency = ({ text, integer }: Settings): number | undefined =>
  text('ENCODE_CONCURRENCY') === undefined
    ? undefined
    : integer('ENCODE_CONCURRENCY', { fallback: 1, min: 1, max: 64 });
