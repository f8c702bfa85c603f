// Lists the packets of a video stream with ffmpeg, and reads the list.
import { type FfmpegInput, COMMON_OPTIONS, inputArguments } from './ffmpeg-input.ts';

/**
 * All packets of the video stream with their original timestamps. With `times`, output options that change
 * them: the new timestamps, from the start of the file.
 */
export const videoPacketArguments = (
  input: FfmpegInput,
  index: number,
  times: readonly string[] = [],
): string[] => [
  ...COMMON_OPTIONS,
  '-loglevel',
  'error',
  ...(times.length === 0 ? ['-copyts'] : []),
  ...inputArguments(input),
  ...times,
  ...packetList(index),
];

/** The parameter sets of an H.264 stream, one packet for each key frame that repeats them. */
export const parameterSetArguments = (input: FfmpegInput, index: number): string[] => [
  ...COMMON_OPTIONS,
  '-loglevel',
  'error',
  ...inputArguments(input),
  '-bsf:v',
  'filter_units=pass_types=7-8',
  ...packetList(index),
];

/** Output options: prints the packets of a stream. */
export const packetList = (index: number): string[] => [
  '-map',
  `0:${index}`,
  '-c',
  'copy',
  '-f',
  'framecrc',
  'pipe:1',
];

/** All packets of a video stream; times in seconds from the first timestamp of the file. */
export type PacketSummary = {
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

const TIME_BASE = /^#tb 0: (\d+)\/(\d+)$/;
/** Stream, decode time, show time, duration, size, checksum; flags only where they are not those of a key. */
const PACKET = /^0, *(-?\d+), *(-?\d+), *(\d+), *(\d+), *(0x\w+)(?:, F=0x(\w+))?/;
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
    const flags = fields[6] === undefined ? KEY_FLAG : Number.parseInt(fields[6], 16);
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

/** Counts different packets, by their checksums. */
export function openPacketCounter(): { read: (line: string) => void; count: () => number } {
  const seen = new Set<string>();
  return {
    read: (line) => {
      const checksum = PACKET.exec(line)?.[5];
      if (checksum !== undefined) seen.add(checksum);
    },
    count: () => seen.size,
  };
}

function jitterOf(times: Float64Array): number {
  const usual = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / Math.max(1, times.length - 1);
  let jitter = 0;
  for (let index = 1; index < times.length; index += 1)
    jitter = Math.max(jitter, Math.abs((times[index] ?? 0) - (times[index - 1] ?? 0) - usual));
  return jitter;
}
