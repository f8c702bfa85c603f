// Which streams of a source are encoded, or why the source is refused.
import type { Warning } from '../../assets/asset.ts';
import { FAILURES, type FailureCode } from '../encode-failure.ts';
import { isDecodable, MAX_PIXELS, VIDEO_CODECS } from './engine-input.ts';
import type { Picture, SourceFacts, SourceStream } from './source-facts.ts';

export type ChosenStreams = {
  readonly video: SourceStream;
  /** Every sound of the source; the first that decodes is encoded. */
  readonly sounds: readonly SourceStream[];
  readonly picture: Picture;
};

export type SourceRefusal = { readonly code: FailureCode; readonly message: string };

/** The moving picture and the sounds beside it. `log`: what the engine said while it looked. */
export function chooseStreams(facts: SourceFacts, log: string): ChosenStreams | SourceRefusal {
  const video = facts.streams.find(({ kind, still }) => kind === 'Video' && !still);
  const sounds = facts.streams.filter(({ kind }) => kind === 'Audio');
  if (facts.streams.length === 0) return refuse('not_media');
  if (!video) return refuse('no_video_track');
  if (!isDecodable(video)) return refuse('unsupported_codec', unsupportedCodec(video));
  if (video.size && video.size.width * video.size.height > MAX_PIXELS) return refuse('picture_too_large');
  if (!facts.picture) return refuse(isTruncationLog(log) ? 'truncated' : 'not_media');
  return { video, sounds, picture: facts.picture };
}

const refuse = (code: FailureCode, message: string = FAILURES[code]): SourceRefusal => ({ code, message });

const unsupportedCodec = (video: SourceStream): string =>
  `The video codec "${codecName(video)}" is not supported. Supported: ${VIDEO_CODECS.join(', ')}.`;

/** What callers read of a video none of whose sounds decodes. */
export const audioUnsupported = (sounds: readonly SourceStream[]): Warning => ({
  code: 'audio_unsupported',
  message: `The video plays without sound: its audio cannot be decoded (${[...new Set(sounds.map(codecName))].join(', ')})`,
});

/** The engine has no name for some codecs; the container still has its own. */
const codecName = ({ codec, tag }: SourceStream): string => (codec === 'none' ? (tag ?? 'unknown') : codec);

/** MP4 and QuickTime list their samples in advance: where bytes are missing, the engine knows, and says so. */
export const isTruncationLog = (log: string): boolean => /\bpartial file$/m.test(log);
