// Chooses the constant frame rate of the renditions.
import type { FrameFacts, Rational } from '../../model/source.ts';

const FALLBACK_RATE: Rational = { numerator: 30, denominator: 1 };
const FASTEST_RATE: Rational = { numerator: 60, denominator: 1 };
/** Rates for more than 30 frames per second at varying times. */
const HIGH_RATES: readonly Rational[] = [{ numerator: 50, denominator: 1 }, FASTEST_RATE];
/** At 1 fps, a segment of four seconds has four frames, which every player can play and seek. */
const MIN_RATE: Rational = { numerator: 1, denominator: 1 };
/** Higher rates double the cost for little benefit. */
const MAX_FRAMES_PER_SECOND = 60.01;
/** Interlaced video above this rate is stored as one field per frame. */
const MAX_FIELD_PAIRS_PER_SECOND = 30.01;
/** A higher rate is the resolution of timestamps. */
const MAX_CAMERA_RATE = 240.01;
/** Relative difference between a rate and an average that belong together. */
const TOLERANCE = 0.1;
/** Maximum number of output frames per source frame in variable-rate sources, to limit the cost of pauses. */
const MAX_REPEATS = 10;

export const perSecondOf = ({ numerator, denominator }: Rational): number => numerator / denominator;

/** True if frames are missing so rarely that the rate counts as constant. */
export const isSteady = (rate: Rational, average: number | null): boolean =>
  average === null || Math.abs(average - perSecondOf(rate)) <= perSecondOf(rate) * TOLERANCE;

/** A rate and an average in frames per second; null where unknown. */
type SourceRate = { readonly rate: Rational | null; readonly average: number | null };

/** The source's own rate if it is nearly constant, divided until it is at most 60 and at least 1. */
export function frameRateFor({ rate, average }: SourceRate): Rational {
  if (rate && isSteady(rate, average)) return withinLimits(rate);
  return average === null ? FALLBACK_RATE : rateForAverage(rate, average);
}

/** 120 becomes 60 and 100 becomes 50: every second frame at exact times. */
function withinLimits(rate: Rational): Rational {
  if (perSecondOf(rate) < perSecondOf(MIN_RATE)) return MIN_RATE;
  const divisor = Math.ceil(perSecondOf(rate) / MAX_FRAMES_PER_SECOND);
  return simplify({ numerator: rate.numerator, denominator: rate.denominator * divisor });
}

/** The lowest rate that keeps nearly every frame; below 30 if the source has very few frames. */
function rateForAverage(rate: Rational | null, average: number): Rational {
  const keepsFrames = (candidate: Rational) => average <= perSecondOf(candidate) * (1 + TOLERANCE);
  if (keepsFrames(FALLBACK_RATE)) {
    const most = Math.max(MIN_RATE.numerator, Math.ceil(average * MAX_REPEATS));
    return { numerator: Math.min(FALLBACK_RATE.numerator, most), denominator: 1 };
  }
  // The source's own rate shows each frame at its exact time.
  const own = rate && perSecondOf(rate) <= MAX_CAMERA_RATE ? [withinLimits(rate)] : [];
  return [...own, ...HIGH_RATES].find(keepsFrames) ?? FASTEST_RATE;
}

/** Deinterlacing creates a frame from each field. */
export function fieldRate(
  frame: Pick<FrameFacts, 'interlaced'> | null,
  { rate, average }: SourceRate,
): SourceRate {
  if (!frame?.interlaced) return { rate, average };
  return {
    rate: rate && perSecondOf(rate) <= MAX_FIELD_PAIRS_PER_SECOND ? doubled(rate) : rate,
    average: average !== null && average <= MAX_FIELD_PAIRS_PER_SECOND ? 2 * average : average,
  };
}

const doubled = ({ numerator, denominator }: Rational): Rational =>
  simplify({ numerator: 2 * numerator, denominator });

function simplify({ numerator, denominator }: Rational): Rational {
  const divisor = greatestDivisor(numerator, denominator);
  return { numerator: numerator / divisor, denominator: denominator / divisor };
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));
