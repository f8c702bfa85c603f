// The part of a source that is cut: its frames, and where ffmpeg starts to read.
import type { SourceStream } from '../../model/source.ts';
import { type FfmpegInput, COMMON_OPTIONS, inputArguments, readZero } from '../source/ffmpeg-input.ts';
import { secondsOf, type Timeline } from '../source/source-timeline.ts';
import { packetList } from '../source/video-packets.ts';

/** The part in seconds and frames of the renditions of the source. */
export type CutRange = {
  readonly startSeconds: number;
  readonly frames: number;
  readonly seconds: number;
};

type CutPart = { readonly startMs: number; readonly endMs: number };

/**
 * From the start of the frame that is on screen, so that the sound does not lead the picture. Undefined if
 * the source ends before the part starts.
 */
export function toCutRange(
  { startMs, endMs }: CutPart,
  { frameRate, durationSeconds }: Timeline,
): CutRange | undefined {
  const framesIn = (seconds: number) => seconds / secondsOf(frameRate);
  const first = Math.floor(framesIn(startMs / 1000) + ROUNDING_FRAMES);
  const frames = Math.round(framesIn(Math.min(endMs / 1000, durationSeconds))) - first;
  if (frames < 1) return undefined;
  return { startSeconds: secondsOf(frameRate, first), frames, seconds: secondsOf(frameRate, frames) };
}

/** Requests state times in milliseconds: a frame of NTSC starts up to half of one later. */
const ROUNDING_FRAMES = 0.05;

/** How far before the part ffmpeg starts to read, until it finds a key frame; then from the beginning. */
const SEEK_MARGINS = [1, 30, Number.POSITIVE_INFINITY];

/** Positions in the source in seconds, the latest first. The last one is its beginning. */
export const seekPositions = ({ startSeconds }: CutRange, { leadInSeconds }: Timeline): readonly number[] => [
  ...new Set(SEEK_MARGINS.map((margin) => Math.max(0, startSeconds - leadInSeconds - margin))),
];

type Seek = { readonly range: CutRange; readonly timeline: Timeline; readonly position: number };

/** Input options after which the part starts at zero, and what is before it has negative times. */
export function seekOptions({ range, timeline, position }: Seek): string[] {
  const offset = position + timeline.leadInSeconds - range.startSeconds;
  return [
    ...(position > 0 ? ['-ss', position.toFixed(6), '-noaccurate_seek'] : []),
    '-itsoffset',
    offset.toFixed(6),
  ];
}

export type VideoSeek = Seek & { readonly streams: readonly SourceStream[]; readonly videoIndex: number };

/** Lists the video packets from the position to a second after the start of the part. */
export const keyFrameArguments = (
  input: FfmpegInput,
  { videoIndex, streams, ...seek }: VideoSeek,
): string[] => [
  ...COMMON_OPTIONS,
  '-loglevel',
  'error',
  ...inputArguments(input, [...seekOptions(seek), '-t', '1']),
  ...packetList(videoIndex),
  ...readZero(input.container, streams),
];
