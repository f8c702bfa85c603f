// Decides whether the source's own video stream can be played as it is, without encoding (stream copy).
import type { Container } from '../../media/probe.ts';
import { isWideGamut, type SourceFacts, type SourceStream } from './source-facts.ts';
import { shortSide, type Rung } from './ladder.ts';
import { secondsOf, type Timeline } from './source-timeline.ts';

/** All packets of a video stream; times in seconds from the first timestamp of the file. */
type PacketSummary = {
  readonly count: number;
  readonly bytes: number;
  /** When the first frame is shown. */
  readonly start: number;
  readonly end: number;
  readonly keyTimes: readonly number[];
  /** A frame after a key frame refers to one before it, so that no player can start there. */
  readonly hasOpenGroup: boolean;
  /** Packets before the start of an edit list, which players must decode but not show. */
  readonly hasHiddenPackets: boolean;
  /** The largest difference between the distance of two frames and the usual one, in seconds. */
  readonly jitter: number;
};

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

/** Other containers round times or lack the header that fragmented MP4 needs. */
const CONTAINERS: readonly Container[] = ['mov'];
/** Of a copy, whose first frame is shown from the beginning. */
export const MAX_START_SECONDS = 0.1;
const MAX_JITTER_SECONDS = 0.002;
/** Audio that is longer stalls hls.js after a seek; the encoded ladder repeats the last frame instead. */
const MAX_HOLD_SECONDS = 0.25;
/** Longer groups delay the first segment and every seek. */
export const MAX_GROUP_SECONDS = { keep: 6, replace: 20 } as const;
/** Of the maximum bit rate of the ladder's top rung, which is above that of a source that lowered it. */
const MAX_BITRATE_FACTOR = 2;
/** Some players never end a stream with a very short last segment. */
const MIN_TAIL_SECONDS = 0.5;
export const SEGMENT_SECONDS = 4;

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
    timeline.holdSeconds <= MAX_HOLD_SECONDS &&
    timeline.leadInSeconds <= MAX_START_SECONDS
  );
}

const isOwnRate = (rate: Timeline['frameRate'] | null, { frameRate }: Timeline): boolean =>
  rate !== null && rate.numerator * frameRate.denominator === frameRate.numerator * rate.denominator;

/** Undefined: not playable as it is. `top` is the highest rung that the ladder has for the source. */
export function chooseCopyUse(
  { video, timeline, packets }: Pick<CopyInput, 'video' | 'timeline' | 'packets'>,
  top: Rung,
): CopyUse | undefined {
  const group = longestGroupSeconds(packets);
  const frames = (packets.end - packets.start) / secondsOf(timeline.frameRate);
  if (
    packets.start < 0 ||
    packets.start > MAX_START_SECONDS ||
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
function lastSegmentSeconds({ keyTimes, end, start }: PacketSummary): number {
  const cut = keyTimes.reduce((last, time) => (time - last >= SEGMENT_SECONDS ? time : last), start);
  return end - cut;
}

const isEven = ({ width, height }: { width: number; height: number }): boolean =>
  width % 2 === 0 && height % 2 === 0;

/** From each key frame to the next, and from the last one to the end. */
export const longestGroupSeconds = ({ keyTimes, end }: PacketSummary): number =>
  Math.max(...[...keyTimes.slice(1), end].map((next, index) => next - (keyTimes[index] ?? next)));

const TIME_BASE = /^#tb 0: (\d+)\/(\d+)$/;
/** Stream, decode time, show time, duration, size, checksum; flags only where they are not those of a key. */
const PACKET = /^0, *(-?\d+), *(-?\d+), *(\d+), *(\d+), *0x\w+(?:, F=0x(\w+))?/;
const KEY_FLAG = 1;
const DISCARD_FLAG = 4;
/** Ten hours at 60 frames per second. */
const MAX_PACKETS = 2_160_000;

type PacketReader = {
  /** Parses the next line of ffmpeg's packet list. */
  readonly read: (line: string) => void;
  /** Undefined without packets, and for more than the reader stores. */
  readonly summary: () => PacketSummary | undefined;
};

/** `startSeconds`: the timestamp that counts as zero. */
export function openPacketReader(startSeconds: number): PacketReader {
  let tick = 0;
  let [bytes, end, lastKey] = [0, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [hasOpenGroup, hasHiddenPackets] = [false, false];
  const times: number[] = [];
  const keyTimes: number[] = [];
  const read = (line: string): void => {
    const [, numerator, denominator] = (TIME_BASE.exec(line) ?? []).map(Number);
    if (numerator && denominator) tick = numerator / denominator;
    const fields = PACKET.exec(line);
    if (!fields || times.length > MAX_PACKETS) return;
    const [showTime = 0, length = 0, size = 0] = fields.slice(2, 5).map(Number);
    const flags = fields[5] === undefined ? KEY_FLAG : Number.parseInt(fields[5], 16);
    const time = showTime * tick - startSeconds;
    times.push(time);
    bytes += size;
    end = Math.max(end, time + length * tick);
    hasHiddenPackets ||= (flags & DISCARD_FLAG) !== 0;
    if (!(flags & KEY_FLAG)) {
      hasOpenGroup ||= time < lastKey;
      return;
    }
    lastKey = time;
    keyTimes.push(time);
  };
  const summary = () => {
    if (times.length === 0 || times.length > MAX_PACKETS) return undefined;
    const sorted = Float64Array.from(times).sort();
    const start = sorted[0] as number;
    const jitter = jitterOf(sorted);
    return { count: times.length, bytes, start, end, keyTimes, hasOpenGroup, hasHiddenPackets, jitter };
  };
  return { read, summary };
}

function jitterOf(times: Float64Array): number {
  const usual = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / Math.max(1, times.length - 1);
  let jitter = 0;
  for (let index = 1; index < times.length; index += 1)
    jitter = Math.max(jitter, Math.abs((times[index] ?? 0) - (times[index - 1] ?? 0) - usual));
  return jitter;
}
