// Reads the settings of encoding: limits, concurrency and the ladder of renditions.
import { readLadder } from './config-ladder.ts';
import { DEFAULT_ENCODE_LIMITS, type EncodeLimits } from './encoding/plan/encode-cost.ts';
import type { Settings } from './platform/settings.ts';

const DAY_S = 86_400;

export const readEncodeSettings = (settings: Settings) => ({
  encodeLimits: readEncodeLimits(settings),
  encodeConcurrency: readEncodeConcurrency(settings),
  ladder: readLadder(settings),
});

const readEncodeLimits = ({ integer }: Settings): EncodeLimits => ({
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

const readEncodeConcurrency = ({ text, integer }: Settings): number | undefined =>
  text('ENCODE_CONCURRENCY') === undefined
    ? undefined
    : integer('ENCODE_CONCURRENCY', { fallback: 1, min: 1, max: 64 });
