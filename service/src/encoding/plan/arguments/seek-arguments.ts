// Builds the input options that place a source, or the part of it that a chunk needs, on the timeline.
import type { Chunk } from '../ladder/chunk-plan.ts';
import { type FfmpegInput, inputArguments } from '../source/ffmpeg-input.ts';
import { secondsOf, type Timeline } from '../source/source-timeline.ts';

/** A chunk must not start before the frame that is shown at its start has been decoded. */
const SEEK_MARGIN_SECONDS = 1;

type SoughtInput = {
  readonly input: FfmpegInput;
  readonly timeline: Timeline;
  readonly chunk?: Chunk | undefined;
};

/**
 * A chunk reads from a key frame before its start. Timestamps stay those of the whole video, so that the
 * filters choose the same frames.
 */
export function seekArguments({ input, timeline, chunk }: SoughtInput): string[] {
  const { leadInSeconds, frameRate } = timeline;
  const offset = ['-itsoffset', String(leadInSeconds)];
  if (!chunk) return inputArguments(input, offset);
  const margin = Math.max(SEEK_MARGIN_SECONDS, secondsOf(frameRate, 2));
  const start = secondsOf(frameRate, chunk.firstFrame) - leadInSeconds - margin;
  const seek = start > 0 ? ['-noaccurate_seek', '-ss', start.toFixed(6)] : [];
  return ['-copyts', '-start_at_zero', ...inputArguments(input, [...offset, ...seek])];
}
