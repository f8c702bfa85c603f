// Parses the properties of a source from the log of a five-frame ffmpeg run.
import type { Container } from '@mediary/media-rules/video-facts';
import type { Size, Rational, SourceStream, FrameFacts, SourceFacts } from '../../model/source.ts';
import { parseHdrMetadata } from './hdr-source.ts';
import { hasNoZero } from './ffmpeg-input.ts';

/** Other primaries differ from BT.709 too little to see, so their conversion is not worth its cost. */
export const isWideGamut = ({ primaries }: FrameFacts): boolean =>
  ['bt2020', 'smpte431', 'smpte432'].includes(primaries);

// ffmpeg indents tags by at least four spaces, so the metadata of a file cannot imitate these lines.
const INPUT = /^Input #0, /m;
const DURATION = /^ {2}Duration: (?:N\/A|(\d+):(\d\d):(\d\d\.\d+))(?:, start: (-?[\d.]+))?/m;
const STREAM = new RegExp(
  '^ {2}Stream #0:(\\d+)(?:\\[0x\\w+\\])?(?:\\(([^)]*)\\))?: ' +
    '(Video|Audio|Subtitle|Data|Attachment): (\\w+)(.*)$((?:\\n {4}.*)*)',
  'gm',
);
const DISPOSITIONS = /((?: \([a-z ]+\))+)$/;
const TITLE = /^ {6,8}title {11}: (.*)$/m;
const ALPHA = /^ {6,8}alpha_mode {6}: 1$/im;
const CHAPTERS = /^ {2}Chapters:$((?:\n {4}.*)*)/m;
const CHAPTER = /^ {4}Chapter #0:\d+: start (-?[\d.]+), end -?[\d.]+$((?:\n {6}.*)*)/gm;
/** ffmpeg prints each further line of a title below the first one. */
const CHAPTER_TITLE = /^ {8}title {11}: (.*(?:\n {24}: .*)*)$/m;
const DOLBY_VISION = /^ {8}DOVI configuration record: .*, compatibility id: (\d+)/m;
const TAG = /^ (?:\([^)]*\) )*\((\w{4}) \/ 0x/;
const SIZE = /, (\d+)x(\d+)(?=[ ,]|$)/;
const RATE = /, ([\d.]+)(k?) fps\b/;
const SAMPLE_RATE = /, (\d+) Hz\b/;
const LAYOUT = / Hz, (?:(mono)|(stereo|downmix)|(\d+)\.(\d+)|(\d+) channels)/;
const PRIMARIES = /^\[Parsed_showinfo_\d+ @ \w+\] color_range:.* color_primaries:(\S+)/m;
// ffmpeg 5.1: "mastering display", "Content Light Level information"; 7.0: "… metadata" after both.
const MASTERING =
  /^\[Parsed_showinfo_\d+ @ \w+\] {3}side data - mastering display.* max_luminance=([\d.]+)/im;
const LIGHT_LEVEL = /^\[Parsed_showinfo_\d+ @ \w+\] {3}side data - content light level.* MaxCLL=(\d+)/im;
/** `yuv420p10le` has ten bits, `rgb48le` sixteen for each of three components, `yuv420p` eight. */
const DEPTH = /(\d\d)[lb]e$/;
const MAX_DEPTH = 16;
const FRAME_RATE = /^\[Parsed_showinfo_\d+ @ \w+\] config in time_base: \S+, frame_rate: (\d+)\/(\d+)/m;
const FRAME_TIME = /^\[Parsed_showinfo_\d+ @ \w+\] n: *\d+ .{0,300}? pts_time:(\S+)/m;
const FRAME = new RegExp(
  '^\\[Parsed_showinfo_\\d+ @ \\w+\\] n: *\\d+ .{0,300}? fmt:(\\S+) ' +
    '.{0,300}?sar:(\\d+)\\/(\\d+) s:(\\d+)x(\\d+) i:([PTB])',
  'gm',
);
const COLOUR =
  /^\[Parsed_showinfo_\d+ @ \w+\] color_range:(\S+) color_space:(\S+) color_primaries:\S+ color_trc:(\S+)/m;

/** Undefined when ffmpeg could not open the file. */
export function parseSourceFacts(words: string, container: Container): SourceFacts | undefined {
  if (!INPUT.test(words)) return undefined;
  const [input = ''] = words.split(/^(?:Stream mapping:|Output #0)/m, 1);
  return {
    ...clockOf(input, container),
    streams: [...input.matchAll(STREAM)].map(streamOf),
    frame: parseFrameFacts(words),
    ...chaptersOf(input),
    isRotated: /displaymatrix: rotation of/i.test(words),
  };
}

function clockOf(input: string, container: Container): Pick<SourceFacts, 'durationSeconds' | 'startSeconds'> {
  if (hasNoZero(container)) return { durationSeconds: null, startSeconds: 0 };
  const [, hours, minutes, seconds, start] = DURATION.exec(input) ?? [];
  const durationSeconds =
    hours === undefined ? null : Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return { durationSeconds, startSeconds: Number(start ?? 0) };
}

/** Only ffmpeg itself indents lines by two spaces, so a tag of the file begins no list of chapters. */
function chaptersOf(input: string): Pick<SourceFacts, 'chapters'> {
  const chapters = [...(CHAPTERS.exec(input)?.[1] ?? '').matchAll(CHAPTER)].map(([, start, tags = '']) => ({
    startSeconds: Number(start),
    title: CHAPTER_TITLE.exec(tags)?.[1]?.replace(/\n {24}: /g, ' '),
  }));
  return chapters.length > 0 ? { chapters } : {};
}

function streamOf([
  ,
  index,
  language,
  kind,
  codec = '',
  rest = '',
  tags = '',
]: RegExpExecArray): SourceStream {
  const [, width, height] = SIZE.exec(rest) ?? [];
  const [, rate, thousands] = RATE.exec(rest) ?? [];
  const tag = TAG.exec(rest)?.[1];
  const channels = channelsOf(rest);
  const sampleRate = Number(SAMPLE_RATE.exec(rest)?.[1] ?? 0);
  const title = TITLE.exec(tags)?.[1];
  const compatibility = DOLBY_VISION.exec(tags)?.[1];
  const dispositions = dispositionsOf(rest);
  return {
    index: Number(index),
    kind: kind as SourceStream['kind'],
    codec,
    ...(tag && { tag }),
    size: width && height ? { width: Number(width), height: Number(height) } : null,
    averageRate: rate ? Number(rate) * (thousands ? 1000 : 1) : null,
    ...(channels && { channels }),
    ...(sampleRate > 0 && { sampleRate }),
    ...(compatibility && { dolbyVisionCompatibility: Number(compatibility) }),
    ...(ALPHA.test(tags) && { hasAlpha: true }),
    still: /\((?:attached pic|still image|timed thumbnails)\)/.test(rest),
    ...(language && { language }),
    ...(title && { title }),
    ...(dispositions.length > 0 && { dispositions }),
  };
}

const dispositionsOf = (rest: string): string[] =>
  [...(DISPOSITIONS.exec(rest)?.[1] ?? '').matchAll(/\(([^)]+)\)/g)].map(([, name = '']) => name);

/** ffmpeg names layouts such as `mono`, `5.1(side)`, `7.1.4` or `3 channels`. */
function channelsOf(rest: string): number | undefined {
  const [layout, mono, stereo, main, bass, count] = LAYOUT.exec(rest) ?? [];
  if (layout === undefined) return undefined;
  if (mono) return 1;
  return stereo ? 2 : Number(count ?? Number(main) + Number(bass));
}

function parseFrameFacts(words: string): FrameFacts | null {
  const frames = [...words.matchAll(FRAME)];
  const [first] = frames;
  if (!first) return null;
  const [, range = 'unknown', matrix = 'unknown', transfer = 'unknown'] = COLOUR.exec(words) ?? [];
  const [sarWidth, sarHeight, width, height] = first.slice(2).map(Number) as [number, number, number, number];
  const startSeconds = Number(FRAME_TIME.exec(words)?.[1]);
  return {
    startSeconds: Number.isFinite(startSeconds) ? startSeconds : 0,
    displaySize: squarePixels({ width, height }, { numerator: sarWidth, denominator: sarHeight }),
    frameRate: frameRateOf(words),
    interlaced: frames.some(([, , , , , , field]) => field !== 'P'),
    transfer: transferOf(transfer),
    primaries: PRIMARIES.exec(words)?.[1] ?? 'unknown',
    bitDepth: Math.min(MAX_DEPTH, Number(DEPTH.exec(first[1] ?? '')?.[1] ?? 8)),
    peakNits: peakOf(words),
    ...(transferOf(transfer) !== 'sdr' && { hdrMetadata: parseHdrMetadata(words) }),
    matrix,
    fullRange: range === 'pc',
    pixelFormat: first[1] ?? 'unknown',
  };
}

/** Zero stands for an unknown value. */
const peakOf = (words: string): number | null =>
  [LIGHT_LEVEL, MASTERING].map((line) => Number(line.exec(words)?.[1])).find((nits) => nits > 0) ?? null;

function frameRateOf(words: string): Rational | null {
  const [, numerator, denominator] = (FRAME_RATE.exec(words) ?? []).map(Number);
  return numerator && denominator ? { numerator, denominator } : null;
}

/** Stretches the shorter side, as the probe does, so that no detail is lost. */
function squarePixels({ width, height }: Size, { numerator, denominator }: Rational): Size {
  if (numerator === 0 || denominator === 0) return { width, height };
  if (numerator > denominator) return { width: Math.round((width * numerator) / denominator), height };
  return { width, height: Math.round((height * denominator) / numerator) };
}

function transferOf(name: string): FrameFacts['transfer'] {
  if (name === 'smpte2084') return 'pq';
  return name === 'arib-std-b67' ? 'hlg' : 'sdr';
}
