// Which streams of a source are encoded, or why the source is refused.
import type { FailureCode } from './encode-failure.ts';
import { MAX_PIXELS, isDecodable } from './engine-input.ts';
import type { Picture, SourceFacts, SourceStream } from './source-facts.ts';

export type ChosenStreams = {
  readonly video: SourceStream;
  readonly audio: SourceStream | undefined;
  readonly picture: Picture;
};

/** The moving picture, and the first sound that can be decoded. `log`: what the engine said while it looked. */
export function chooseStreams(facts: SourceFacts, log: string): ChosenStreams | FailureCode {
  const video = facts.streams.find(({ kind, still }) => kind === 'Video' && !still);
  const sounds = facts.streams.filter(({ kind }) => kind === 'Audio');
  const audio = sounds.find(isDecodable);
  if (facts.streams.length === 0) return 'not_media';
  if (!video) return 'no_video_track';
  if (!isDecodable(video) || (sounds.length > 0 && !audio)) return 'unsupported_codec';
  if (video.size && video.size.width * video.size.height > MAX_PIXELS) return 'picture_too_large';
  if (facts.picture) return { video, audio, picture: facts.picture };
  return saysTruncated(log) ? 'truncated' : 'not_media';
}

/** MP4 and QuickTime list their samples in advance: where bytes are missing, the engine knows, and says so. */
export const saysTruncated = (log: string): boolean => /\bpartial file$/m.test(log);
