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
/** At one frame per second a segment of four seconds holds four frames, which every player shows and seeks in. */
const LOWEST_RATE: Rational = { numerator: 1, denominator: 1 };
/** Above, cost doubles for little. */
const HIGHEST_PER_SECOND = 60.01;
/** An uneven source gets at most this many frames for each of its own, so that long pauses cost little. */
const MOST_REPEATS = 10;
/** A frame that repeats the one before it still takes a header and its place in an index. */
const SMALLEST_FRAME_BYTES = 6;
/** Claims are printed in hundredths. */
const ROUNDING_SECONDS = 0.015;
/** Last frames are often a little shorter than claimed. */
const HARMLESS_SECONDS = 0.05;
const MISSING_SECONDS = 0.5;
const LONGEST_LEAD_IN_SECONDS = 1;

export const secondsOf = ({ numerator, denominator }: Rational, count = 1): number =>
  (count * denominator) / numerator;

/** The source's own rate where it is (nearly) constant, but at least 1; else 30, or less for a source of few frames. */
export function frameRateFor(rate: Rational | null, average: number | null): Rational {
  if (rate && isSteady(rate, average) && perSecondOf(rate) <= HIGHEST_PER_SECOND)
    return perSecondOf(rate) >= 1 ? rate : LOWEST_RATE;
  if (average === null) return FALLBACK_RATE;
  const most = Math.max(LOWEST_RATE.numerator, Math.ceil(average * MOST_REPEATS));
  return { numerator: Math.min(FALLBACK_RATE.numerator, most), denominator: 1 };
}

const perSecondOf = ({ numerator, denominator }: Rational): number => numerator / denominator;

const isSteady = (rate: Rational, average: number | null): boolean =>
  average === null || Math.abs(average - perSecondOf(rate)) <= perSecondOf(rate) / 10;

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

type Measured = {
  readonly facts: SourceFacts;
  readonly videoIndex: number;
  readonly ends: PacketEnds;
  readonly missing: number;
  /** Size of the source. */
  readonly bytes: number;
};

/** The renditions cover the whole film: from zero to the end of picture or sound, whichever is later. */
export function timelineOf({ facts, videoIndex, ends, missing, bytes }: Measured): Timeline {
  const frameRate = frameRateFor(
    facts.picture?.frameRate ?? null,
    averageRate({ facts, videoIndex, mostFrames: bytes / SMALLEST_FRAME_BYTES, seconds: lastEnd(ends) }),
  );
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

type Counted = Pick<Measured, 'facts' | 'videoIndex'> & {
  readonly mostFrames: number;
  readonly seconds: number;
};

/** What the container claims, unless the file is too small to hold that many frames. */
function averageRate({ facts, videoIndex, mostFrames, seconds }: Counted): number | null {
  const claimed = facts.streams.find(({ index }) => index === videoIndex)?.averageRate ?? null;
  const rate = facts.picture?.frameRate;
  const most = seconds > 0 ? mostFrames / seconds : Number.POSITIVE_INFINITY;
  return most < (claimed ?? (rate ? perSecondOf(rate) : Number.POSITIVE_INFINITY)) ? most : claimed;
}

const lastEnd = (ends: PacketEnds): number => Math.max(0, ...ends.values());
