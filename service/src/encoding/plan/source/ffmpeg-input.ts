// Builds ffmpeg input options for untrusted files: size limits, allowed demuxers, decoders and protocols.
import { MAX_VIDEO_PIXELS } from '@mediary/media-rules/file-limits';
import type { Container } from '@mediary/media-rules/video-facts';
import type { SourceStream } from '../../model/source.ts';
import { mediaDecoders, AUDIO_FILE_DECODERS } from './decoders.ts';

export type FfmpegInput = { readonly path: string; readonly container: Container; readonly threads: number };

/** Without this allowlist, a playlist disguised as a video makes ffmpeg open other files. */
const DEMUXERS = 'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts';
const COMMON_CONTAINERS: readonly Container[] = ['mov', 'matroska', 'mpegts'];

export const COMMON_OPTIONS = ['-nostdin', '-hide_banner', '-y', '-nostats'] as const;

/**
 * Options of a run that prints its progress twice a second, and a line for each frame or packet that cannot
 * be decoded (`decode-errors.ts`).
 */
export const REPORTING = [
  ...COMMON_OPTIONS,
  '-loglevel',
  'repeat+warning',
  '-progress',
  'pipe:1',
  '-stats_period',
  '0.5',
] as const;

/** Options of a run whose filters print what they have measured at its end. */
export const MEASURING = REPORTING.map((option) => (option === 'repeat+warning' ? 'repeat+info' : option));

/** Options before an input that our own encoder wrote. */
export const OWN_FILE_INPUT = [
  ...COMMON_OPTIONS,
  '-loglevel',
  'error',
  '-protocol_whitelist',
  'file',
] as const;

/**
 * All options up to the input file; `before` contains additional input options, `decoders` those that replace
 * the decoders of pictures and sound.
 */
export const inputArguments = (
  { path, container, threads }: FfmpegInput,
  before: readonly string[] = [],
  decoders = mediaDecoders(container),
): string[] => [
  '-protocol_whitelist',
  'file',
  '-format_whitelist',
  COMMON_CONTAINERS.includes(container) ? DEMUXERS : container,
  '-codec_whitelist',
  decoders.join(','),
  '-max_streams',
  '32',
  '-max_pixels',
  String(MAX_VIDEO_PIXELS),
  '-threads',
  String(threads),
  ...before,
  '-f',
  container,
  '-i',
  `file:${path}`,
];

/** Clocks that start at any value. ffmpeg only estimates the duration. */
const CLOCKS_WITHOUT_ZERO: readonly Container[] = ['mpegts', 'mpeg'];

export const hasNoZero = (container: Container): boolean => CLOCKS_WITHOUT_ZERO.includes(container);

/**
 * Output options of a run whose times are those of `factsArguments`. In such containers, ffmpeg takes the
 * first packet of all streams that it reads as zero, so every run opens the same streams. In an output of its
 * own, because the limit of frames would end the other outputs too.
 */
export function readZero(container: Container, streams: readonly SourceStream[]): string[] {
  if (!hasNoZero(container)) return [];
  const timed = [streams.find(isPicture), ...streams.filter(({ sampleRate }) => sampleRate)];
  const maps = timed.flatMap((stream) => (stream ? ['-map', `0:${stream.index}`] : []));
  return [...maps, '-c', 'copy', '-frames:v', '0', '-frames:a', '0', '-f', 'null', '-'];
}

export const isPicture = ({ kind, still }: SourceStream): boolean => kind === 'Video' && !still;

/** Decodes five frames and prints their properties and those of the container to stderr. */
export const factsArguments = (input: FfmpegInput): string[] => [
  ...COMMON_OPTIONS,
  '-loglevel',
  'info',
  ...inputArguments(input),
  '-map',
  '0:V:0',
  '-frames:v',
  '5',
  '-vf',
  'showinfo=checksum=0',
  ...(hasNoZero(input.container) ? ['-map', '0:a?', '-c:a', 'copy', '-frames:a', '1'] : ['-an']),
  '-sn',
  '-dn',
  '-f',
  'null',
  '-',
];

/** Prints the properties of an audio file to stderr. */
export const audioFactsArguments = (input: FfmpegInput): string[] => [
  ...COMMON_OPTIONS,
  '-loglevel',
  'info',
  ...inputArguments(input, [], AUDIO_FILE_DECODERS),
  '-map',
  '0:a:0',
  '-frames:a',
  '1',
  '-f',
  'null',
  '-',
];

/**
 * ffmpeg lists no packets if the header of a mapped stream is incomplete, such as that of a PNG cover, or of
 * sound that a recording announces and does not have.
 */
const isUntimed = ({ kind, still, sampleRate }: SourceStream): boolean =>
  still || kind === 'Attachment' || (kind === 'Audio' && !sampleRate);

export type PacketSelection = { readonly part: 'tail' | 'whole'; readonly streams: readonly SourceStream[] };

/** `tail`: packets of the last 10 s, original timestamps. `whole`: all packets, relative to the first. */
export const packetListArguments = (input: FfmpegInput, { part, streams }: PacketSelection): string[] => [
  ...COMMON_OPTIONS,
  '-loglevel',
  'error',
  ...(part === 'tail' ? ['-copyts'] : []),
  ...inputArguments(input, part === 'tail' ? ['-sseof', '-10'] : []),
  '-map',
  '0',
  ...streams.filter(isUntimed).flatMap(({ index }) => ['-map', `-0:${index}`]),
  '-copy_unknown',
  '-c',
  'copy',
  '-f',
  'framecrc',
  'pipe:1',
];

/** Decodes one audio frame of a stream. */
export const audioCheckArguments = (input: FfmpegInput, index: number): string[] => [
  ...COMMON_OPTIONS,
  '-loglevel',
  'error',
  ...inputArguments(input),
  '-map',
  `0:${index}`,
  '-frames:a',
  '1',
  '-f',
  'framecrc',
  'pipe:1',
];
