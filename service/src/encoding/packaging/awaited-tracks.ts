// Describes the renditions of a run that are not encoded yet, for players that start before them.
import type { VideoTrack } from '../model/cmaf-track.ts';
import type { Rational, Size } from '../model/source.ts';
import { perSecondOf } from '../plan/source/frame-rate.ts';
import type { EncodePhase } from '../plan/ladder/encode-phases.ts';
import type { Rung } from '../plan/ladder/ladder.ts';
import { SEGMENT_SECONDS } from '../plan/ladder/source-copy.ts';
import { BUFFER_SECONDS } from '../plan/arguments/rung-options.ts';

/** `peakBitrate`: the most that the encoder puts into a segment, in bits per second. */
export type AwaitedTrack = Pick<VideoTrack, 'id' | 'codec' | 'size'> & { readonly peakBitrate: number };

/** Those of H.264 in SDR alone: players do not change the codec of a video that they play. */
export const awaitedTracks = (
  laterPhases: readonly EncodePhase[],
  frameRate: Rational,
): readonly AwaitedTrack[] =>
  laterPhases.flatMap(({ video, trackIds }) =>
    video === 'copy'
      ? []
      : video.flatMap((rung, at) =>
          rung.codec === 'h264' && rung.range === 'sdr'
            ? [describe(rung, trackIds[at] as number, frameRate)]
            : [],
        ),
  );

const describe = (rung: Rung, id: number, frameRate: Rational): AwaitedTrack => ({
  id,
  size: { width: rung.width, height: rung.height },
  codec: `avc1.${PROFILES[rung.profile]}${hexOf(levelOf(rung, frameRate))}`,
  peakBitrate: rung.maxKilobits * 1000 * (1 + BUFFER_SECONDS / SEGMENT_SECONDS),
});

/** Profile and constraint flags as x264 writes them. */
const PROFILES: Readonly<Record<Rung['profile'], string>> = { high: '6400', main: '4d40' };

/** Level × 10, its macroblocks per second and per frame (ITU-T H.264, table A-1). */
const LEVELS = [
  [10, 1485, 99],
  [11, 3000, 396],
  [12, 6000, 396],
  [13, 11_880, 396],
  [21, 19_800, 792],
  [22, 20_250, 1620],
  [30, 40_500, 1620],
  [31, 108_000, 3600],
  [32, 216_000, 5120],
  [40, 245_760, 8192],
  [42, 522_240, 8704],
  [50, 589_824, 22_080],
  [51, 983_040, 36_864],
  [52, 2_073_600, 36_864],
] as const;
const MACROBLOCK = 16;

function levelOf({ width, height }: Size, frameRate: Rational): number {
  const blocks = Math.ceil(width / MACROBLOCK) * Math.ceil(height / MACROBLOCK);
  const perSecond = blocks * perSecondOf(frameRate);
  const level = LEVELS.find(([, rate, frame]) => perSecond <= rate && blocks <= frame);
  return (level ?? LEVELS[LEVELS.length - 1])?.[0] ?? 0;
}

const hexOf = (value: number): string => value.toString(16).padStart(2, '0');
