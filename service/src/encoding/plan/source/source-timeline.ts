// Computes the duration of the renditions, and detects truncated sources by their packets.
import { fieldRate, frameRateFor, perSecondOf } from './frame-rate.ts';
import type { Rational, SourceFacts } from '../../model/source.ts';

/** Stream index → end of its last packet, in seconds from the first timestamp of the file. */
export type PacketEnds = ReadonlyMap<number, number>;

type PacketList = {
  /** Parses the next line of the list; ignores lines without a packet. */
  readonly read: (line: string) => void;
  readonly ends: PacketEnds;
};

const TIME_BASE = /^#tb (\d+): (\d+)\/(\d+)$/;
const PACKET = /^(\d+), *(-?\w+), *(-?\w+), *(\d+),/;

/** `startSeconds`: the timestamp that counts as zero. Stores one number per stream for any list length. */
export function openPacketList(startSeconds: number): PacketList {
  const ticks = new Map<number, number>();
  const ends = new Map<number, number>();
  const read = (line: string): void => {
    const [, stream, numerator, denominator] = (TIME_BASE.exec(line) ?? []).map(Number);
    if (stream !== undefined && numerator && denominator) ticks.set(stream, numerator / denominator);
    const [, index, decodeTime, showTime, length = 0] = (PACKET.exec(line) ?? []).map(Number);
    const time = [showTime, decodeTime].find(isTime);
    if (index === undefined || time === undefined) return;
    const end = (time + length) * (ticks.get(index) ?? 0) - startSeconds;
    ends.set(index, Math.max(end, ends.get(index) ?? end));
  };
  return { read, ends };
}

type FirstPacket = {
  /** Parses the next line of the list; the time of a packet in seconds, undefined for other lines. */
  readonly read: (line: string) => Rational | undefined;
};

/** Of a list with one stream. */
export function openFirstPacket(): FirstPacket {
  let base = { numerator: 0, denominator: 1 };
  const read = (line: string): Rational | undefined => {
    const [, , numerator, denominator] = (TIME_BASE.exec(line) ?? []).map(Number);
    if (numerator && denominator) base = { numerator, denominator };
    const [, index, , showTime] = (PACKET.exec(line) ?? []).map(Number);
    return index === undefined || !isTime(showTime)
      ? undefined
      : { numerator: Number(showTime) * base.numerator, denominator: base.denominator };
  };
  return { read };
}

/** AVI has no time to show a frame. Some versions of ffmpeg print a missing time as the lowest number. */
export const isTime = (time: number | undefined): boolean =>
  Number.isFinite(time) && Number(time) > -(2 ** 62);

export type Timeline = {
  /**
   * Empty time before the first timestamp, during which the first frame is shown. Negative: time before the
   * first frame, which is left out.
   */
  readonly leadInSeconds: number;
  readonly frameRate: Rational;
  /** Number of frames of every rung. */
  readonly frames: number;
  readonly durationSeconds: number;
  /** How long the last frame is repeated when audio is longer than video. */
  readonly holdSeconds: number;
};

/** A repeated frame still needs a header and an index entry. */
const MIN_FRAME_BYTES = 6;
/** ffmpeg prints durations with two decimals. */
const ROUNDING_SECONDS = 0.015;
/** The last frame is often slightly shorter than the container's duration. */
const TOLERATED_SECONDS = 0.05;
const MISSING_SECONDS = 0.5;
const MAX_LEAD_IN_SECONDS = 1;
/** hls.js never starts a shorter video with sound: it and Chromium wait for each other. */
const MIN_SECONDS_WITH_SOUND = 0.2;
/** Nobody misses it, and copied and encoded renditions start with the same frame. */
const MAX_SKIPPED_SECONDS = 0.1;

export const secondsOf = ({ numerator, denominator }: Rational, count = 1): number =>
  (count * denominator) / numerator;

/** Seconds of the container's duration without packets; 0 when the container has no duration. */
export function missingSeconds({ durationSeconds, startSeconds }: SourceFacts, ends: PacketEnds): number {
  if (durationSeconds === null) return 0;
  const end = lastPacketEnd(ends);
  // Some containers count their duration from the first timestamp, others from zero.
  const lowerClaim = durationSeconds - Math.max(0, startSeconds);
  const claims = [lowerClaim, durationSeconds].filter((claim) => claim > end - ROUNDING_SECONDS);
  const missing = Math.min(...claims) - end;
  if (!Number.isFinite(missing) || missing <= TOLERATED_SECONDS) return 0;
  // The packets match the lower duration: the rest is a late start, or the last frame is slightly longer.
  return lowerClaim <= end && missing > MISSING_SECONDS ? 0 : missing;
}

export const isTruncated = (missing: number): boolean => missing > MISSING_SECONDS;

/** The renditions start with the first frame, unless it is late. */
function leadInOf({ startSeconds, frame }: Pick<SourceFacts, 'startSeconds' | 'frame'>): number {
  // A later start is that of a recording's clock.
  const emptySeconds = startSeconds > 0 && startSeconds <= MAX_LEAD_IN_SECONDS ? startSeconds : 0;
  const firstFrame = Math.max(0, frame?.startSeconds ?? 0);
  return emptySeconds + firstFrame <= MAX_SKIPPED_SECONDS ? 0 - firstFrame : emptySeconds;
}

/** Added to a time of the file, it gives the time in the renditions. */
export const shiftOf = (facts: Pick<SourceFacts, 'startSeconds' | 'frame'>): number =>
  leadInOf(facts) - facts.startSeconds;

type TimelineInput = {
  readonly facts: SourceFacts;
  readonly videoIndex: number;
  readonly ends: PacketEnds;
  readonly missing: number;
  /** Size of the source in bytes. */
  readonly bytes: number;
};

/** The renditions cover the source from `leadInOf` to the end of video or audio, whichever is later. */
export function computeTimeline({ facts, videoIndex, ends, missing, bytes }: TimelineInput): Timeline {
  const rate = facts.frame?.frameRate ?? null;
  const maxFrames = bytes / MIN_FRAME_BYTES;
  const average = averageRate({ facts, videoIndex, maxFrames, seconds: lastPacketEnd(ends) });
  const frameRate = frameRateFor(fieldRate(facts.frame, { rate, average }));
  const leadInSeconds = leadInOf(facts);
  const packetEnd = lastPacketEnd(ends);
  const videoEnd = ends.get(videoIndex) ?? packetEnd;
  // The last frame may be shown longer than its packet; audio has exactly the length of its packets.
  const end = videoEnd === packetEnd ? packetEnd + missing : packetEnd;
  const frames = Math.max(
    minFrames(facts, frameRate),
    Math.round((leadInSeconds + end) / secondsOf(frameRate)),
  );
  return {
    leadInSeconds,
    frameRate,
    frames,
    durationSeconds: secondsOf(frameRate, frames),
    holdSeconds: end - videoEnd,
  };
}

/** The last frame of a shorter video is repeated. */
const minFrames = ({ streams }: SourceFacts, frameRate: Rational): number =>
  streams.some(({ kind }) => kind === 'Audio')
    ? Math.max(1, Math.ceil(MIN_SECONDS_WITH_SOUND / secondsOf(frameRate) - 0.001))
    : 1;

type RateInput = Pick<TimelineInput, 'facts' | 'videoIndex'> & {
  readonly maxFrames: number;
  readonly seconds: number;
};

/** The container's average rate, unless the file is too small for that many frames. */
function averageRate({ facts, videoIndex, maxFrames, seconds }: RateInput): number | null {
  const claimed = facts.streams.find(({ index }) => index === videoIndex)?.averageRate ?? null;
  const rate = facts.frame?.frameRate;
  const most = seconds > 0 ? maxFrames / seconds : Number.POSITIVE_INFINITY;
  return most < (claimed ?? (rate ? perSecondOf(rate) : Number.POSITIVE_INFINITY)) ? most : claimed;
}

const lastPacketEnd = (ends: PacketEnds): number => Math.max(0, ...ends.values());
