// Chooses the streams to encode, or rejects the source.
import { FAILURE_CODES } from '@mediary/contract/failures';
import type { Warning } from '../../../assets/asset.ts';
import { MAX_VIDEO_PIXELS } from '@mediary/media-rules/file-limits';
import type { Container } from '@mediary/media-rules/video-facts';
import type { FailureCode } from '../../encode-failure.ts';
import { MAX_AUDIO_TRACKS } from './audio-tracks.ts';
import { isDecodable, videoCodecs } from './decoders.ts';
import { isPicture } from './ffmpeg-input.ts';
import type { FrameFacts, SourceFacts, SourceStream } from '../../model/source.ts';

export type ChosenStreams = {
  readonly video: SourceStream;
  /** All audio streams of the source. */
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
  const video = facts.streams.find(isPicture);
  const audioStreams = facts.streams.filter(({ kind }) => kind === 'Audio');
  if (facts.streams.length === 0) return refuse('not_media');
  if (!video) return refuse('no_video_track');
  if (!isDecodable(video, container)) return refuse('unsupported_codec', unsupportedCodec(video, container));
  if (video.size && video.size.width * video.size.height > MAX_VIDEO_PIXELS)
    return refuse('picture_too_large');
  if (!facts.frame) return refuse(isTruncationLog(log) ? 'truncated' : 'not_media');
  return { video, audioStreams, frame: facts.frame };
}

const refuse = (code: FailureCode, message: string = FAILURE_CODES[code]): SourceRefusal => ({
  code,
  message,
});

const unsupportedCodec = (video: SourceStream, container: Container): string =>
  `The video codec "${codecName(video)}" is not supported. Supported: ${videoCodecs(container).join(', ')}.`;

/** The audio streams of a source, by what becomes of them. */
export type AudioChoice = Readonly<Record<'encoded' | 'undecodable' | 'excess', readonly SourceStream[]>>;

/** About the audio that the renditions lack, with the names of its codecs. */
export function audioWarnings({ encoded, undecodable, excess }: AudioChoice): readonly Warning[] {
  const missing = [...undecodable, ...excess];
  if (missing.length === 0) return [];
  if (encoded.length === 0)
    return [
      {
        code: 'audio_unsupported',
        message:
          'The video plays without sound: ' +
          `its audio cannot be decoded (${[...new Set(missing.map(codecName))].join(', ')})`,
      },
    ];
  const reasons = [
    ['cannot be decoded', undecodable],
    [`exceeds the limit of ${MAX_AUDIO_TRACKS}`, excess],
  ] as const;
  const messages = reasons.flatMap(([reason, streams]) =>
    streams.map((stream) => `stream ${stream.index} (${codecName(stream)}) ${reason}`),
  );
  return [{ code: 'audio_tracks_dropped', message: `Audio tracks are missing: ${messages.join(', ')}` }];
}

/** For codecs unknown to ffmpeg, the container's own code is used. */
export const codecName = ({ codec, tag }: SourceStream): string =>
  codec === 'none' ? (tag ?? 'unknown') : codec;

/** MP4 and QuickTime index their samples in advance, so ffmpeg reports missing bytes. */
export const isTruncationLog = (log: string): boolean => /\bpartial file$/m.test(log);
