// Where the renditions have key frames, and so where the engine cuts them into segments.
import { secondsOf, type Timeline } from './source-timeline.ts';

export const SEGMENT_SECONDS = 4;
const GROUPS_PER_SEGMENT = 2;

type Frames = Pick<Timeline, 'frameRate' | 'frames'>;

/** Frames from one key frame to the next. Rounded up: the groups must fill a segment, else the engine cuts it one group late. */
const groupFrames = ({ frameRate }: Frames): number =>
  Math.ceil(SEGMENT_SECONDS / GROUPS_PER_SEGMENT / secondsOf(frameRate) - 0.001);

/** Frames of the longest group that the expression leaves: the last one may have the tail added. */
export const longestGroup = (timeline: Frames): number => 2 * groupFrames(timeline);

/**
 * A key frame at the start of each group. A tail shorter than half a segment gets none, so that it stays in the segment before it:
 * hls.js never ends a stream whose last segment is no longer than the delay of B-frames, which is in the edit list.
 */
export function keyFrameExpression(timeline: Frames): string {
  const group = groupFrames(timeline);
  const tail = timeline.frames % (group * GROUPS_PER_SEGMENT);
  const isMerged = tail < group && tail < timeline.frames;
  return `expr:not(mod(n,${group}))*lt(n,${isMerged ? timeline.frames - tail : timeline.frames})`;
}
