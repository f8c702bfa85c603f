// Estimates the cost of an encode from the output pixels of all renditions, and enforces its limits.
import { DEFAULT_FILE_LIMITS, describeExcessDuration } from '@mediary/media-rules/file-limits';
import { EncodeError } from '../../encoder.ts';
import { CODEC_FACTS } from '../../model/codecs.ts';
import { type Rung, shortSide } from './ladder.ts';
import { type Timeline, secondsOf } from '../source/source-timeline.ts';

export type EncodeLimits = {
  readonly maxDurationSeconds: number;
  /** Output pixels: the sum over all renditions of width × height × frames, more for AV1 and HEVC. */
  readonly maxCost: number;
  /** Time without a new frame after which a run is stopped. */
  readonly stallSeconds: number;
};

/** Twelve hours of 1080p at 30 frames per second cost 4.8 × 10¹² pixels. */
export const DEFAULT_ENCODE_LIMITS: EncodeLimits = {
  maxDurationSeconds: DEFAULT_FILE_LIMITS.maxDurationSeconds,
  maxCost: 5_000_000_000_000,
  stallSeconds: 60,
};

const MIN_WALL_MS = 10 * 60_000;
/** Below the job's expiry, which would start the same encode again. */
const MAX_WALL_MS = 23 * 3_600_000;
/** A lower bound of the speed of supported machines. */
const SLOWEST_PIXELS_PER_MS = 3000;

type Planned = { readonly timeline: Timeline; readonly rungs: readonly Rung[] };

/** The cost of one frame in every rendition. */
export const frameCost = (rungs: readonly Rung[]): number =>
  rungs.reduce((pixels, { width, height, codec }) => pixels + width * height * CODEC_FACTS[codec].cost, 0);

export const encodeCost = ({ timeline, rungs }: Planned): number => timeline.frames * frameCost(rungs);

/** A second of sound takes no longer than so many pixels of video. */
const SOUND_PIXELS_PER_SECOND = 600_000;

export const soundCost = (seconds: number): number => seconds * SOUND_PIXELS_PER_SECOND;

/** Time limit of the ffmpeg run. */
export const timeLimitMs = (cost: number): number =>
  Math.min(MAX_WALL_MS, MIN_WALL_MS + cost / SLOWEST_PIXELS_PER_MS);

export function assertDuration(
  { durationSeconds }: Pick<Timeline, 'durationSeconds'>,
  { maxDurationSeconds }: EncodeLimits,
): void {
  if (durationSeconds <= maxDurationSeconds) return;
  throw new EncodeError('too_long', describeExcessDuration(durationSeconds, maxDurationSeconds));
}

export function assertCost(planned: Planned, { maxCost }: EncodeLimits): void {
  const cost = encodeCost(planned);
  if (cost <= maxCost) return;
  throw new EncodeError(
    'too_demanding',
    `Encoding this video costs ${cost} output pixels (${describe(planned)}). The limit is ${maxCost}. ` +
      'Upload a shorter video, or one with a smaller picture or a lower frame rate.',
  );
}

function describe({ timeline, rungs }: Planned): string {
  const perSecond = Math.round(100 / secondsOf(timeline.frameRate)) / 100;
  const heights = rungs.map((rung) => `${shortSide(rung)}p`).join(', ');
  return `${Math.ceil(timeline.durationSeconds)} s at ${perSecond} frames per second in ${heights}`;
}
