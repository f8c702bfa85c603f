// How long the renditions of a source must be, and whether its end is missing: the container's claim held against its packets.
import type { PacketEnds } from './packet-ends.ts';
import type { Rational, SourceFacts } from './source-facts.ts';

export type Timeline = {
  /** Empty time before the first timestamp that belongs to the film; the first picture is shown in it. */
  readonly leadInSeconds: number;
  readonly frameRate: Rational;
  /** Frames that every rung must have. */
  readonly frames: number;
  readonly durationSeconds: number;
  /** How long the last picture is held, where sound outlasts the picture. */
  readonly holdSeconds: number;
};

const FALLBACK_RATE: Rational = { numerator: 30, denominator: 1 };
/** Below, players and two-second groups of pictures get coarse; above, cost doubles for little. */
const RATES = { min: 5, max: 60.01 };
/** Claims are printed in hundredths. */
const ROUNDING_SECONDS = 0.015;
/** Last frames are often a little shorter than claimed. */
const HARMLESS_SECONDS = 0.05;
const MISSING_SECONDS = 0.5;
const LONGEST_LEAD_IN_SECONDS = 1;
/** A few damaged bytes can make days of a second. */
const LONGEST_SECONDS = 12 * 3600;

export const secondsOf = ({ numerator, denominator }: Rational, count = 1): number =>
  (count * denominator) / numerator;

/** The source's own rate where it is (nearly) constant, else 30. */
export function frameRateFor(rate: Rational | null, average: number | null): Rational {
  if (!rate) return FALLBACK_RATE;
  const perSecond = rate.numerator / rate.denominator;
  const steady = average === null || Math.abs(average - perSecond) <= perSecond / 10;
  return steady && perSecond >= RATES.min && perSecond <= RATES.max ? rate : FALLBACK_RATE;
}

/** Seconds that the container promises and no packet holds; 0 where it promises nothing. */
export function missingSeconds({ durationSeconds, startSeconds }: SourceFacts, ends: PacketEnds): number {
  if (durationSeconds === null) return 0;
  const end = lastEnd(ends);
  // Some containers count their duration from the first timestamp, others from zero.
  const lowerClaim = durationSeconds - Math.max(0, startSeconds);
  const claims = [lowerClaim, durationSeconds].filter((claim) => claim > end - ROUNDING_SECONDS);
  const missing = Math.min(...claims) - end;
  if (!Number.isFinite(missing) || missing <= HARMLESS_SECONDS) return 0;
  // The packets fulfil the lower claim; what the higher one adds is then a late start, unless it is a last picture held a little.
  return lowerClaim <= end && missing > MISSING_SECONDS ? 0 : missing;
}

export const isTruncated = (missing: number): boolean => missing > MISSING_SECONDS;
export const isTooLong = ({ durationSeconds }: Timeline): boolean => durationSeconds > LONGEST_SECONDS;

type Measured = {
  readonly facts: SourceFacts;
  readonly videoIndex: number;
  readonly ends: PacketEnds;
  readonly missing: number;
};

/** The renditions cover the whole film: from zero to the end of picture or sound, whichever is later. */
export function timelineOf({ facts, videoIndex, ends, missing }: Measured): Timeline {
  const average = facts.streams.find(({ index }) => index === videoIndex)?.averageRate ?? null;
  const frameRate = frameRateFor(facts.picture?.frameRate ?? null, average);
  const leadInSeconds =
    facts.startSeconds > 0 && facts.startSeconds <= LONGEST_LEAD_IN_SECONDS ? facts.startSeconds : 0;
  const packetEnd = lastEnd(ends);
  const pictureEnd = ends.get(videoIndex) ?? packetEnd;
  // A last picture may be meant to stay longer than its packet says; sound is as long as its packets.
  const end = pictureEnd === packetEnd ? packetEnd + missing : packetEnd;
  const frames = Math.max(1, Math.round((leadInSeconds + end) / secondsOf(frameRate)));
  return {
    leadInSeconds,
    frameRate,
    frames,
    durationSeconds: secondsOf(frameRate, frames),
    holdSeconds: end - pictureEnd,
  };
}

const lastEnd = (ends: PacketEnds): number => Math.max(0, ...ends.values());
