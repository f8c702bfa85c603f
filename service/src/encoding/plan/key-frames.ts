// Determines the positions of key frames, which define the segments.
import { secondsOf, type Timeline } from './source-timeline.ts';

export const SEGMENT_SECONDS = 4;
const GROUPS_PER_SEGMENT = 2;

type Frames = Pick<Timeline, 'frameRate' | 'frames'>;

/** Frames per group. Rounded up, because groups that do not fill a segment make ffmpeg cut one group late. */
const groupFrames = ({ frameRate }: Frames): number =>
  Math.ceil(SEGMENT_SECONDS / GROUPS_PER_SEGMENT / secondsOf(frameRate) - 0.001);

/** Frames of the longest possible group: the last one may include the tail. */
export const longestGroup = (timeline: Frames): number => 2 * groupFrames(timeline);

/** A key frame at the start of each group. A tail shorter than half a segment is merged into the previous one, because hls.js never ends a stream with a very short last segment. */
export function keyFrameExpression(timeline: Frames): string {
  const group = groupFrames(timeline);
  const tail = timeline.frames % (group * GROUPS_PER_SEGMENT);
  const isMerged = tail < group && tail < timeline.frames;
  return `expr:not(mod(n,${group}))*lt(n,${isMerged ? timeline.frames - tail : timeline.frames})`;
}
