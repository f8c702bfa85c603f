// Finds the streams of a source that may carry closed captions, and builds the arguments that extract these.
import { toLanguage } from '../../../captions/caption-request.ts';
import { CAPTION_CODECS, type CaptionCodec } from '../../captions/caption-data.ts';
import type { SourceStream } from '../../model/source.ts';
import { COMMON_OPTIONS, type FfmpegInput, hasNoZero, inputArguments, readZero } from './ffmpeg-input.ts';

export type CaptionStream = {
  readonly index: number;
  readonly codec: CaptionCodec;
  /** `und` where the file does not tell. */
  readonly language: string;
};

/** A track of closed captions, whose codec ffmpeg calls by the name of line 21 captions. */
export const isCaptionTrack = ({ kind, codec }: SourceStream): boolean =>
  kind === 'Subtitle' && codec === 'eia_608';

/** The file is read once for each. */
const MAX_CAPTION_TRACKS = 4;

/** The caption tracks, then the video: it repeats them if it has captions too. */
export function findCaptionStreams(
  streams: readonly SourceStream[],
  video: SourceStream,
): readonly CaptionStream[] {
  return [...streams.filter(isCaptionTrack).slice(0, MAX_CAPTION_TRACKS), video].flatMap((stream) => {
    const codec = CAPTION_CODECS.find((known) => known === stream.codec);
    // The language of a video stream is that of its sound, if it is any.
    const language = stream === video ? undefined : toLanguage(stream.language ?? '');
    return codec ? [{ index: stream.index, codec, language: language ?? 'und' }] : [];
  });
}

/** Passes on the units that may contain captions, with start codes. Pictures are not decoded. */
const UNIT_FILTERS: Readonly<Record<CaptionCodec, string | undefined>> = {
  h264: 'h264_mp4toannexb,filter_units=pass_types=6',
  hevc: 'hevc_mp4toannexb,filter_units=pass_types=39-40',
  mpeg2video: 'filter_units=pass_types=178',
  eia_608: undefined,
};

export type CaptionFiles = {
  /** The bytes of all packets. */
  readonly data: string;
  /** Their sizes and times, as text. */
  readonly list: string;
};

type CaptionOutput = CaptionFiles & {
  /** All streams of the source. */
  readonly streams: readonly SourceStream[];
};

/** Reads the file once. The times are those of `factsArguments`. */
export function captionArguments(
  input: FfmpegInput,
  { index, codec }: CaptionStream,
  { data, list, streams }: CaptionOutput,
): string[] {
  const filter = UNIT_FILTERS[codec];
  const packets = ['-map', `0:${index}`, '-c', 'copy', ...(filter ? ['-bsf:v', filter] : [])];
  return [
    ...COMMON_OPTIONS,
    '-loglevel',
    'error',
    ...(hasNoZero(input.container) ? [] : ['-copyts']),
    ...inputArguments(input),
    ...packets,
    '-f',
    'data',
    data,
    ...packets,
    '-f',
    'framecrc',
    list,
    ...readZero(input.container, streams),
  ];
}
