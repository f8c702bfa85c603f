// Builds the input options that place a source, or the part of it that a chunk needs, on the timeline.
import type { AudioTrack } from '../../model/audio-track.ts';
import type { Chunk } from '../ladder/chunk-plan.ts';
import { type FfmpegInput, hasNoZero, inputArguments } from '../source/ffmpeg-input.ts';
import type { FrameFacts } from '../../model/source.ts';
import { secondsOf, type Timeline } from '../source/source-timeline.ts';

/** A chunk must not start before the frame that is shown at its start has been decoded. */
const SEEK_MARGIN_SECONDS = 1;

type SoughtInput = {
  readonly input: FfmpegInput;
  readonly timeline: Timeline;
  /** The sound that the run encodes too. */
  readonly audio: readonly AudioTrack[];
  readonly chunk?: Chunk | undefined;
  readonly frame: Pick<FrameFacts, 'startSeconds'>;
};

/**
 * A chunk reads from a key frame before its start. Timestamps stay those of the whole video, so that the
 * filters choose the same frames.
 */
export function seekArguments({ input, timeline, audio, chunk, frame }: SoughtInput): string[] {
  const { leadInSeconds, frameRate } = timeline;
  // Without sound, ffmpeg takes the first frame of such a container as the start of the file.
  const isFrameZero = !chunk && audio.length === 0 && hasNoZero(input.container);
  const offset = ['-itsoffset', String(leadInSeconds + (isFrameZero ? frame.startSeconds : 0))];
  if (!chunk) return inputArguments(input, offset);
  const margin = Math.max(SEEK_MARGIN_SECONDS, secondsOf(frameRate, 2));
  const start = secondsOf(frameRate, chunk.firstFrame) - leadInSeconds - margin;
  const seek = start > 0 ? ['-noaccurate_seek', '-ss', start.toFixed(6)] : [];
  return ['-copyts', '-start_at_zero', ...inputArguments(input, [...offset, ...seek])];
}
