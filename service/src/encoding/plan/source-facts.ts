// What must be known of a source before it is encoded, read from the words of a five-frame run of the engine.
import type { Container } from '../../media/probe.ts';
import type { Size } from './ladder.ts';

export type Rational = { readonly numerator: number; readonly denominator: number };

export type SourceStream = {
  readonly index: number;
  readonly kind: 'Video' | 'Audio' | 'Subtitle' | 'Data' | 'Attachment';
  readonly codec: string;
  /** The container's four letters for the codec, where the engine prints them. */
  readonly tag?: string;
  /** As coded; null where the file does not tell. */
  readonly size: Size | null;
  /** Average frames per second; null where there is none. */
  readonly averageRate: number | null;
  /** A cover or thumbnail, not the moving picture. */
  readonly still: boolean;
};

/** The first decoded frames. */
export type Picture = {
  /** As shown: rotation and pixel aspect applied. */
  readonly shown: Size;
  readonly frameRate: Rational | null;
  readonly interlaced: boolean;
  readonly transfer: 'sdr' | 'pq' | 'hlg';
  /** As the engine names it; `unknown` where the file does not tell. */
  readonly matrix: string;
  readonly fullRange: boolean;
};

export type SourceFacts = {
  /** What the container claims; null where it claims nothing. */
  readonly durationSeconds: number | null;
  /** The first timestamp of all. */
  readonly startSeconds: number;
  readonly streams: readonly SourceStream[];
  /** Null where not one frame could be decoded. */
  readonly picture: Picture | null;
};

// The engine indents tags by four spaces and more, so a file cannot write lines that look like these.
const INPUT = /^Input #0, /m;
const DURATION = /^ {2}Duration: (?:N\/A|(\d+):(\d\d):(\d\d\.\d+))(?:, start: (-?[\d.]+))?/m;
const STREAM =
  /^ {2}Stream #0:(\d+)(?:\[0x\w+\])?(?:\([^)]*\))?: (Video|Audio|Subtitle|Data|Attachment): (\w+)(.*)$/gm;
const TAG = /^ (?:\([^)]*\) )*\((\w{4}) \/ 0x/;
const SIZE = /, (\d+)x(\d+)(?=[ ,]|$)/;
const RATE = /, ([\d.]+)(k?) fps\b/;
const FRAME_RATE = /^\[Parsed_showinfo_\d+ @ \w+\] config in time_base: \S+, frame_rate: (\d+)\/(\d+)/m;
const FRAME = /^\[Parsed_showinfo_\d+ @ \w+\] n: *\d+ .*? sar:(\d+)\/(\d+) s:(\d+)x(\d+) i:([PTB])/gm;
const COLOUR =
  /^\[Parsed_showinfo_\d+ @ \w+\] color_range:(\S+) color_space:(\S+) color_primaries:\S+ color_trc:(\S+)/m;

/** Undefined where the engine could not open the file at all. */
export function parseSourceFacts(words: string, container: Container): SourceFacts | undefined {
  if (!INPUT.test(words)) return undefined;
  const [input = ''] = words.split(/^(?:Stream mapping:|Output #0)/m, 1);
  return {
    ...clockOf(input, container),
    streams: [...input.matchAll(STREAM)].map(streamOf),
    picture: pictureOf(words),
  };
}

/** A transport stream's clock starts anywhere, and its duration is derived, not claimed. */
function clockOf(input: string, container: Container): Pick<SourceFacts, 'durationSeconds' | 'startSeconds'> {
  if (container === 'mpegts') return { durationSeconds: null, startSeconds: 0 };
  const [, hours, minutes, seconds, start] = DURATION.exec(input) ?? [];
  const durationSeconds =
    hours === undefined ? null : Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return { durationSeconds, startSeconds: Number(start ?? 0) };
}

function streamOf([, index, kind, codec = '', rest = '']: RegExpExecArray): SourceStream {
  const [, width, height] = SIZE.exec(rest) ?? [];
  const [, rate, thousands] = RATE.exec(rest) ?? [];
  const tag = TAG.exec(rest)?.[1];
  return {
    index: Number(index),
    kind: kind as SourceStream['kind'],
    codec,
    ...(tag && { tag }),
    size: width && height ? { width: Number(width), height: Number(height) } : null,
    averageRate: rate ? Number(rate) * (thousands ? 1000 : 1) : null,
    still: /\((?:attached pic|still image|timed thumbnails)\)/.test(rest),
  };
}

function pictureOf(words: string): Picture | null {
  const frames = [...words.matchAll(FRAME)];
  const [first] = frames;
  if (!first) return null;
  const [, range = 'unknown', matrix = 'unknown', transfer = 'unknown'] = COLOUR.exec(words) ?? [];
  const [, sarWidth, sarHeight, width, height] = first.map(Number) as [
    number,
    number,
    number,
    number,
    number,
  ];
  return {
    shown: squarePixels({ width, height }, { numerator: sarWidth, denominator: sarHeight }),
    frameRate: frameRateOf(words),
    interlaced: frames.some(([, , , , , field]) => field !== 'P'),
    transfer: transferOf(transfer),
    matrix,
    fullRange: range === 'pc',
  };
}

function frameRateOf(words: string): Rational | null {
  const [, numerator, denominator] = (FRAME_RATE.exec(words) ?? []).map(Number);
  return numerator && denominator ? { numerator, denominator } : null;
}

/** Stretches the side that is too short, as the probe does, so that no line of the picture is lost. */
function squarePixels({ width, height }: Size, { numerator, denominator }: Rational): Size {
  if (numerator === 0 || denominator === 0) return { width, height };
  if (numerator > denominator) return { width: Math.round((width * numerator) / denominator), height };
  return { width, height: Math.round((height * denominator) / numerator) };
}

function transferOf(name: string): Picture['transfer'] {
  if (name === 'smpte2084') return 'pq';
  return name === 'arib-std-b67' ? 'hlg' : 'sdr';
}
