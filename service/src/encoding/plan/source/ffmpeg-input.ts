// Builds ffmpeg input options for untrusted files: size limits, allowed demuxers, decoders and protocols.
import { MAX_VIDEO_PIXELS } from '@mediary/media-rules/file-limits';
import type { AddedContainer, Container } from '@mediary/media-rules/video-facts';
import type { SourceStream } from '../../model/source.ts';

export type FfmpegInput = { readonly path: string; readonly container: Container; readonly threads: number };

/** Without this allowlist, a playlist disguised as a video makes ffmpeg open other files. */
const DEMUXERS = 'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts';

const ADDED_CONTAINERS: readonly Container[] = [
  'avi',
  'mpeg',
  'flv',
  'asf',
  'ogg',
  'mxf',
] satisfies AddedContainer[];

export const isLegacyContainer = (container: Container): container is AddedContainer =>
  ADDED_CONTAINERS.includes(container);

/** Uncompressed audio, whose decoders are simple. */
const PCM = [
  ...['u8', 's8', 'alaw', 'mulaw', 'bluray', 'dvd'],
  ...['s16le', 's16be', 's24le', 's24be', 's32le', 's32be', 'f32le', 'f32be', 'f64le', 'f64be'],
].map((format) => `pcm_${format}`);

/** Codec → ffmpeg decoders, which differ between builds. */
type Decoders = Readonly<Record<'Video' | 'Audio', Readonly<Record<string, readonly string[]>>>>;

const DECODERS: Decoders = {
  Video: {
    h264: ['h264'],
    hevc: ['hevc'],
    av1: ['av1', 'libdav1d', 'libaom-av1'],
    vp8: ['vp8', 'libvpx'],
    vp9: ['vp9', 'libvpx-vp9'],
    prores: ['prores'],
    dnxhd: ['dnxhd'],
    mpeg1video: ['mpeg1video'],
    mpeg2video: ['mpeg2video'],
    mpeg4: ['mpeg4'],
    h263: ['h263'],
    mjpeg: ['mjpeg'],
  },
  Audio: {
    aac: ['aac'],
    ac3: ['ac3'],
    eac3: ['eac3'],
    opus: ['opus', 'libopus'],
    vorbis: ['vorbis'],
    mp3: ['mp3', 'mp3float'],
    mp2: ['mp2', 'mp2float'],
    flac: ['flac'],
    alac: ['alac'],
    aac_latm: ['aac_latm'],
    dts: ['dca'],
    truehd: ['truehd'],
    mlp: ['mlp'],
    mp1: ['mp1', 'mp1float'],
    amr_nb: ['amrnb', 'libopencore_amrnb'],
    amr_wb: ['amrwb', 'libopencore_amrwb'],
    adpcm_ima_qt: ['adpcm_ima_qt'],
    adpcm_ima_wav: ['adpcm_ima_wav'],
    adpcm_ms: ['adpcm_ms'],
    wavpack: ['wavpack'],
    ...Object.fromEntries(PCM.map((codec) => [codec, [codec]])),
  },
};

/** Only for the containers that operators add, so that other uploads do not reach these older decoders. */
const OLDER_DECODERS: Decoders = {
  Video: {
    ...DECODERS.Video,
    wmv1: ['wmv1'],
    wmv2: ['wmv2'],
    wmv3: ['wmv3'],
    vc1: ['vc1'],
    msmpeg4v1: ['msmpeg4v1'],
    msmpeg4v2: ['msmpeg4v2'],
    msmpeg4v3: ['msmpeg4'],
    flv1: ['flv'],
    vp6: ['vp6'],
    vp6f: ['vp6f'],
    theora: ['theora'],
    dvvideo: ['dvvideo'],
  },
  Audio: {
    ...DECODERS.Audio,
    wmav1: ['wmav1'],
    wmav2: ['wmav2'],
    wmapro: ['wmapro'],
    speex: ['speex', 'libspeex'],
    nellymoser: ['nellymoser'],
    adpcm_swf: ['adpcm_swf'],
  },
};

/** Text subtitles, for their conversion to captions. Those that are pictures are not decoded. */
const TEXT_SUBTITLES: Readonly<Record<string, readonly string[]>> = {
  mov_text: ['mov_text'],
  subrip: ['subrip', 'srt'],
  webvtt: ['webvtt'],
  ass: ['ass', 'ssa'],
  text: ['text'],
};

export const TEXT_DECODERS: readonly string[] = Object.values(TEXT_SUBTITLES).flat();

export const isTextSubtitle = (codec: string): boolean => Object.hasOwn(TEXT_SUBTITLES, codec);

const decodersFor = (container: Container): Decoders =>
  isLegacyContainer(container) ? OLDER_DECODERS : DECODERS;

export const videoCodecs = (container: Container): readonly string[] =>
  Object.keys(decodersFor(container).Video);

export const isDecodable = ({ kind, codec }: SourceStream, container: Container): boolean =>
  (kind === 'Video' || kind === 'Audio') && Object.hasOwn(decodersFor(container)[kind], codec);

const mediaDecoders = (container: Container): readonly string[] =>
  Object.values(decodersFor(container)).flatMap((codecs) => Object.values(codecs).flat());

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
  isLegacyContainer(container) ? container : DEMUXERS,
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

/** In such containers, zero is the first packet of all streams that ffmpeg reads. */
const READ_SOUND = ['-map', '0:a?', '-c:a', 'copy', '-frames:a', '1'] as const;

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
  ...(hasNoZero(input.container) ? READ_SOUND : ['-an']),
  '-sn',
  '-dn',
  '-f',
  'null',
  '-',
];

/** ffmpeg lists no packets if the header of a mapped stream is incomplete, such as that of a PNG cover. */
const isUntimed = ({ kind, still }: SourceStream): boolean => still || kind === 'Attachment';

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
