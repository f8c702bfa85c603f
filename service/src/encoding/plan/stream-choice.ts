// Chooses the streams to encode, or rejects the source.
import type { Warning } from '../../assets/asset.ts';
import type { Container } from '../../media/probe.ts';
import { FAILURES, type FailureCode } from '../encode-failure.ts';
import { isDecodable, MAX_PIXELS, videoCodecs } from './ffmpeg-input.ts';
import type { FrameFacts, SourceFacts, SourceStream } from './source-facts.ts';

export type ChosenStreams = {
  readonly video: SourceStream;
  /** All audio streams of the source; the first that can be decoded is encoded. */
  readonly audioStreams: readonly SourceStream[];
  readonly frame: FrameFacts;
};

type SourceRefusal = { readonly code: FailureCode; readonly message: string };

/** `log` is the ffmpeg output of the examination. */
export function chooseStreams(
  facts: SourceFacts,
  container: Container,
  log: string,
): ChosenStreams | SourceRefusal {
  const video = facts.streams.find(({ kind, still }) => kind === 'Video' && !still);
  const audioStreams = facts.streams.filter(({ kind }) => kind === 'Audio');
  if (facts.streams.length === 0) return refuse('not_media');
  if (!video) return refuse('no_video_track');
  if (!isDecodable(video, container)) return refuse('unsupported_codec', unsupportedCodec(video, container));
  if (video.size && video.size.width * video.size.height > MAX_PIXELS) return refuse('picture_too_large');
  if (!facts.frame) return refuse(isTruncationLog(log) ? 'truncated' : 'not_media');
  return { video, audioStreams, frame: facts.frame };
}

const refuse = (code: FailureCode, message: string = FAILURES[code]): SourceRefusal => ({ code, message });

const unsupportedCodec = (video: SourceStream, container: Container): string =>
  `The video codec "${codecName(video)}" is not supported. Supported: ${videoCodecs(container).join(', ')}.`;

/** Warning for callers when no audio stream can be decoded. */
export const audioUnsupported = (audioStreams: readonly SourceStream[]): Warning => ({
  code: 'audio_unsupported',
  message:
    'The video plays without sound: ' +
    `its audio cannot be decoded (${[...new Set(audioStreams.map(codecName))].join(', ')})`,
});

/** For codecs unknown to ffmpeg, the container's own code is used. */
const codecName = ({ codec, tag }: SourceStream): string => (codec === 'none' ? (tag ?? 'unknown') : codec);

/** MP4 and QuickTime index their samples in advance, so ffmpeg reports missing bytes. */
export const isTruncationLog = (log: string): boolean => /\bpartial file$/m.test(log);
