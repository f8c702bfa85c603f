// Decides whether the source's own video stream can be played as it is, without encoding (stream copy).
import type { Container } from '@mediary/media-rules/video-facts';
import { isWideGamut } from '../source/source-facts.ts';
import type { Rational, SourceFacts, SourceStream } from '../../model/source.ts';
import { shortSide, type Rung } from './ladder.ts';
import { secondsOf, type Timeline } from '../source/source-timeline.ts';
import type { PacketSummary } from '../source/video-packets.ts';

/**
 * `keep`: a rendition of its own. `replace`: played until the encoded ladder is complete, because its bit
 * rate, size or key frames do not fit the ladder.
 */
export type CopyUse = 'keep' | 'replace';

type CopyInput = {
  readonly container: Container;
  readonly facts: SourceFacts;
  readonly video: SourceStream;
  readonly timeline: Timeline;
  readonly packets: PacketSummary;
};

const CONTAINERS: readonly Container[] = ['mov', 'matroska', 'mpegts'];
/** The header of fragmented MP4 has one set of parameters, and these may have others at each key frame. */
const REPEATS_PARAMETERS: readonly Container[] = ['mpegts'];
/** Times rounded to milliseconds, or to ticks that do not divide a frame. */
const ROUNDS_TIMES: readonly Container[] = ['matroska', 'mpegts'];
const MAX_JITTER_SECONDS = 0.002;
/** Audio that is longer stalls hls.js after a seek; the encoded ladder repeats the last frame instead. */
const MAX_HOLD_SECONDS = 0.25;
/** Longer groups delay the first segment and every seek. */
export const MAX_GROUP_SECONDS = { keep: 6, replace: 20 } as const;
/** A copy may have up to this multiple of the top rung's maximum bit rate. */
const MAX_BITRATE_FACTOR = 2;
/** Some players never end a stream with a very short last segment. */
const MIN_TAIL_SECONDS = 0.5;
export const SEGMENT_SECONDS = 4;

export const repeatsParameters = (container: Container): boolean => REPEATS_PARAMETERS.includes(container);

/** Properties that are known without reading the packets. */
export function canCopy({
  container,
  facts: { frame, isRotated },
  video,
  timeline,
}: Omit<CopyInput, 'packets'>): boolean {
  return (
    CONTAINERS.includes(container) &&
    video.codec === 'h264' &&
    frame !== null &&
    frame.pixelFormat === 'yuv420p' &&
    frame.transfer === 'sdr' &&
    !isWideGamut(frame) &&
    !frame.interlaced &&
    !isRotated &&
    frame.displaySize.width === video.size?.width &&
    frame.displaySize.height === video.size.height &&
    isOwnRate(frame.frameRate, timeline) &&
    // The copy of a shorter video would only be replaced.
    timeline.durationSeconds >= MIN_TAIL_SECONDS &&
    timeline.holdSeconds <= MAX_HOLD_SECONDS &&
    timeline.leadInSeconds <= 0
  );
}

const isOwnRate = (rate: Timeline['frameRate'] | null, { frameRate }: Timeline): boolean =>
  rate !== null && rate.numerator * frameRate.denominator === frameRate.numerator * rate.denominator;

/** Ticks per second, so that the time of the first frame is rounded by little. */
const MIN_TIMESCALE = 10_000;

/**
 * Output options that move each frame to its place in a grid of the frame rate, which encoded renditions
 * have. Empty where times are exact.
 */
export function gridTimes(container: Container, { numerator, denominator }: Rational): readonly string[] {
  if (!ROUNDS_TIMES.includes(container)) return [];
  const factor = Math.ceil(MIN_TIMESCALE / numerator);
  const frame = denominator * factor;
  const move = (time: string) =>
    `round(STARTPTS*TB/TB_OUT)+round((${time}-STARTPTS)*TB/TB_OUT/${frame})*${frame}`;
  const times = `pts=${move('PTS')}:dts=${move('DTS')}:duration=${frame}`;
  return ['-bsf:v', `setts=time_base=1/${numerator * factor}:${times}`];
}

/** Undefined: not playable as it is. `top` is the highest rung that the ladder has for the source. */
export function chooseCopyUse(
  { video, timeline, packets }: Pick<CopyInput, 'video' | 'timeline' | 'packets'>,
  top: Rung,
): CopyUse | undefined {
  const group = longestGroupSeconds(packets);
  const frames = (packets.end - packets.start) / secondsOf(timeline.frameRate);
  if (
    Math.abs(packets.start + timeline.leadInSeconds) > MAX_JITTER_SECONDS ||
    packets.keyTimes[0] !== packets.start ||
    packets.hasOpenGroup ||
    packets.hasHiddenPackets ||
    packets.jitter > MAX_JITTER_SECONDS ||
    Math.abs(frames - packets.count) > 1 ||
    group > MAX_GROUP_SECONDS.replace
  )
    return undefined;
  const bitrate = (packets.bytes * 8) / (packets.end - packets.start);
  const isFit =
    group <= MAX_GROUP_SECONDS.keep &&
    bitrate <= top.maxKilobits * 1000 * MAX_BITRATE_FACTOR &&
    video.size !== null &&
    isEven(video.size) &&
    shortSide(video.size) <= shortSide(top) &&
    lastSegmentSeconds(packets) >= MIN_TAIL_SECONDS;
  return isFit ? 'keep' : 'replace';
}

/** ffmpeg ends a segment at the first key frame after its duration. */
function lastSegmentSeconds(
  { keyTimes, end, start }: PacketSummary,
  segmentSeconds: number = SEGMENT_SECONDS,
): number {
  const cut = keyTimes.reduce((last, time) => (time - last >= segmentSeconds ? time : last), start);
  return end - cut;
}

const LONGER_SEGMENTS = [SEGMENT_SECONDS, 5, 6, 7, 8] as const;

/** The duration with which a copy has no short last segment, because the sound keeps the cuts of the copy. */
export const copiedSegmentSeconds = (packets: PacketSummary): number =>
  LONGER_SEGMENTS.find((seconds) => lastSegmentSeconds(packets, seconds) >= MIN_TAIL_SECONDS) ??
  SEGMENT_SECONDS;

const isEven = ({ width, height }: { width: number; height: number }): boolean =>
  width % 2 === 0 && height % 2 === 0;

/** From each key frame to the next, and from the last one to the end: more than a function call may take. */
export const longestGroupSeconds = ({ keyTimes, end }: PacketSummary): number =>
  [...keyTimes.slice(1), end].reduce(
    (longest, next, index) => Math.max(longest, next - (keyTimes[index] ?? next)),
    0,
  );
