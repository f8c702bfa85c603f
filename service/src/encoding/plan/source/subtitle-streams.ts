// Finds the text subtitles of a source, and builds the ffmpeg arguments that convert them to WebVTT.
import { nameOfLanguage, toLanguage } from '../../../captions/caption-request.ts';
import { toPlainText } from '../../../assets/text-limits.ts';
import { isTextSubtitle, TEXT_DECODERS } from './decoders.ts';
import { type FfmpegInput, COMMON_OPTIONS, inputArguments } from './ffmpeg-input.ts';
import { shiftOf } from './source-timeline.ts';
import type { SourceFacts, SourceStream } from '../../model/source.ts';

/** One for each language. */
type SubtitleStream = {
  readonly index: number;
  /** `und` where the file does not tell. */
  readonly language: string;
  readonly label: string;
  readonly kind: 'subtitles' | 'captions';
  /** The language has no other track. */
  readonly isForced?: boolean;
};

const MAX_LABEL = 100;

/** Prints the streams; without an output ffmpeg ends with code 1. */
export const streamListArguments = (input: FfmpegInput): string[] => [
  ...COMMON_OPTIONS,
  '-loglevel',
  'info',
  ...inputArguments(input),
];

/** Chooses one stream for each language, if possible not a forced one: these translate only signs. */
export function chooseSubtitles(streams: readonly SourceStream[]): readonly SubtitleStream[] {
  const found = streams
    .filter(({ kind, codec }) => kind === 'Subtitle' && isTextSubtitle(codec))
    .toSorted((a, b) => Number(isForced(a)) - Number(isForced(b)))
    .map(toSubtitles);
  const byLanguage = new Map<string, SubtitleStream>();
  for (const stream of found) if (!byLanguage.has(stream.language)) byLanguage.set(stream.language, stream);
  return [...byLanguage.values()].toSorted((a, b) => a.index - b.index);
}

const hasFlag = ({ dispositions = [] }: SourceStream, ...names: readonly string[]): boolean =>
  names.some((name) => dispositions.includes(name));

const isForced = (stream: SourceStream): boolean => hasFlag(stream, 'forced');

function toSubtitles(stream: SourceStream): SubtitleStream {
  const language = toLanguage(stream.language ?? '') ?? 'und';
  return {
    index: stream.index,
    language,
    label: toPlainText(stream.title, MAX_LABEL) ?? nameOfLanguage(language),
    kind: hasFlag(stream, 'hearing impaired', 'captions') ? 'captions' : 'subtitles',
    ...(isForced(stream) && { isForced: true }),
  };
}

type SubtitleOutput = { readonly index: number; readonly path: string };
type SubtitleSource = { readonly input: FfmpegInput; readonly facts: SourceFacts };

/**
 * Reads the file once for all streams, with the times of the renditions. If only text is decoded, ffmpeg
 * takes the first cue as the start of the file, and would shift all cues by it.
 */
export const subtitleArguments = (
  { input, facts }: SubtitleSource,
  outputs: readonly SubtitleOutput[],
): string[] => [
  ...COMMON_OPTIONS,
  '-loglevel',
  'error',
  '-copyts',
  ...inputArguments(input, ['-itsoffset', shiftOf(facts).toFixed(6)], TEXT_DECODERS),
  ...outputs.flatMap(({ index, path }) => ['-map', `0:${index}`, '-c:s', 'webvtt', '-f', 'webvtt', path]),
];
