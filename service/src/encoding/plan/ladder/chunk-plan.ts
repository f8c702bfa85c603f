// Divides a long video into chunks that workers encode independently of each other.
import type { Container } from '@mediary/media-rules/video-facts';
import { isSteady } from '../source/frame-rate.ts';
import type { Rung } from './ladder.ts';
import { SEGMENT_SECONDS } from './source-copy.ts';
import type { FrameFacts, SourceStream } from '../../model/source.ts';
import { secondsOf, type Timeline } from '../source/source-timeline.ts';

/** A run of whole segments. Frames and segments count from the start of the video. */
export type Chunk = {
  readonly number: number;
  readonly firstFrame: number;
  readonly frames: number;
  readonly firstSegment: number;
  /** Frames of each segment. */
  readonly segmentFrames: readonly number[];
  readonly isLast: boolean;
};

/** All that a worker needs to know to encode a chunk of a source, as JSON. */
export type ChunkSpec = {
  readonly container: Container;
  readonly videoIndex: number;
  readonly frame: FrameFacts;
  /** The timeline of the whole video. */
  readonly timeline: Timeline;
  readonly rungs: readonly Rung[];
  readonly keyFrames: 'grid' | 'source';
  /** The id of each rung's track in the manifests. */
  readonly trackIds: readonly number[];
  readonly chunk: Chunk;
};

/** Bounds the rows and jobs of one video: longer videos get longer chunks. */
const MAX_CHUNKS = 720;

type Division = {
  /** The first frame of each segment. */
  readonly segmentStarts: readonly number[];
  /** Frames of the video. */
  readonly frames: number;
  readonly chunkSeconds: number;
};

/** Chunks of nearly the same number of segments, none of them shorter than `chunkSeconds`. */
export function planChunks({ segmentStarts, frames, chunkSeconds }: Division): readonly Chunk[] {
  const total = segmentStarts.length;
  const least = Math.max(1, Math.round(chunkSeconds / SEGMENT_SECONDS));
  const count = Math.min(MAX_CHUNKS, Math.max(1, Math.floor(total / least)));
  const bounds = [...segmentStarts, frames];
  return Array.from({ length: count }, (_, number) => {
    const [first, end] = [number, number + 1].map((place) => Math.floor((place * total) / count)) as [
      number,
      number,
    ];
    const starts = bounds.slice(first, end + 1);
    const firstFrame = starts[0] ?? 0;
    return {
      number,
      firstFrame,
      frames: (starts.at(-1) ?? 0) - firstFrame,
      firstSegment: first,
      segmentFrames: starts.slice(1).map((start, index) => start - (starts[index] ?? 0)),
      isLast: end === total,
    };
  });
}

/** The disk space that the segments of a chunk need. */
export const estimateChunkBytes = ({ rungs, timeline, chunk }: ChunkSpec): number => {
  const kilobits = rungs.reduce((sum, { maxKilobits }) => sum + maxKilobits, 0);
  return Math.ceil(125 * kilobits * secondsOf(timeline.frameRate, chunk.frames));
};

/** MPEG-TS and most older formats have no index, so that ffmpeg finds a time only roughly. */
const SEEKABLE: readonly Container[] = ['mov', 'matroska'];
/** Audio that is much longer leaves chunks without any frame of the source. */
const MAX_HOLD_SECONDS = 1;

type ChunkedSource = {
  readonly container: Container;
  readonly video: Pick<SourceStream, 'averageRate'>;
  readonly frame: Pick<FrameFacts, 'frameRate' | 'interlaced'>;
  readonly timeline: Pick<Timeline, 'holdSeconds'>;
};

/** Whether ffmpeg finds the same frames from a time in the middle as from the start. */
export const isChunkable = ({ container, video, frame, timeline }: ChunkedSource): boolean =>
  SEEKABLE.includes(container) &&
  !frame.interlaced &&
  frame.frameRate !== null &&
  isSteady(frame.frameRate, video.averageRate) &&
  timeline.holdSeconds <= MAX_HOLD_SECONDS;
