// Finds the text subtitles of a source, and builds the ffmpeg arguments that convert them to WebVTT.
import { nameOfLanguage, toLanguage } from '../../captions/caption-request.ts';
import { toPlainText } from '../../assets/text-limits.ts';
import { type FfmpegInput, GENERAL, inputArguments, isTextSubtitle, TEXT_DECODERS } from './ffmpeg-input.ts';

/** One for each language. */
type SubtitleStream = {
  readonly index: number;
  /** `und` where the file does not tell. */
  readonly language: string;
  readonly label: string;
  readonly kind: 'subtitles' | 'captions';
};

/** ffmpeg indents the metadata of a file by at least four spaces, so that it cannot imitate these lines. */
const STREAM = /^ {2}Stream #0:(\d+)(?:\[0x\w+\])?(?:\((\w+)\))?: (\w+): (\w+)(.*(?:\n {4}.*)*)/gm;
/** Newer versions of ffmpeg indent it by two more spaces. */
const TITLE = /^ {6,8}title {11}: (.*)$/m;
const MAX_LABEL = 100;

/** Prints the streams; without an output ffmpeg ends with code 1. */
export const streamListArguments = (input: FfmpegInput): string[] => [
  ...GENERAL,
  '-loglevel',
  'info',
  ...inputArguments(input),
];

/** Of several streams in a language the first one that is not forced: forced ones translate only signs. */
export function chooseSubtitles(log: string): readonly SubtitleStream[] {
  const [input = ''] = log.split(/^(?:Stream mapping:|Output #0)/m, 1);
  const found = [...input.matchAll(STREAM)].flatMap(([, index, tag = '', type, codec = '', rest = '']) =>
    type === 'Subtitle' && isTextSubtitle(codec) ? [toSubtitles(Number(index), tag, rest)] : [],
  );
  const byLanguage = new Map<string, SubtitleStream>();
  for (const { isForced, ...stream } of found.toSorted((a, b) => Number(a.isForced) - Number(b.isForced)))
    if (!byLanguage.has(stream.language)) byLanguage.set(stream.language, stream);
  return [...byLanguage.values()].toSorted((a, b) => a.index - b.index);
}

function toSubtitles(index: number, tag: string, rest: string): SubtitleStream & { isForced: boolean } {
  const language = toLanguage(tag) ?? 'und';
  return {
    index,
    language,
    label: toPlainText(TITLE.exec(rest)?.[1], MAX_LABEL) ?? nameOfLanguage(language),
    kind: /^[^\n]*\((?:hearing impaired|captions)\)/.test(rest) ? 'captions' : 'subtitles',
    isForced: /^[^\n]*\(forced\)/.test(rest),
  };
}

type SubtitleOutput = { readonly index: number; readonly path: string };

/** Reads the file once for all streams. */
export const subtitleArguments = (input: FfmpegInput, outputs: readonly SubtitleOutput[]): string[] => [
  ...GENERAL,
  '-loglevel',
  'error',
  ...inputArguments(input, [], TEXT_DECODERS),
  ...outputs.flatMap(({ index, path }) => ['-map', `0:${index}`, '-c:s', 'webvtt', '-f', 'webvtt', path]),
];
