// The decoders that ffmpeg may use for untrusted files, by container.
import type { AddedContainer, Container } from '@mediary/media-rules/video-facts';
import type { SourceStream } from '../../model/source.ts';

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

/** Of pictures and sound. */
export const mediaDecoders = (container: Container): readonly string[] =>
  Object.values(decodersFor(container)).flatMap((codecs) => Object.values(codecs).flat());

/** Of covers; each is named after its codec. */
const COVER_DECODERS: readonly string[] = ['mjpeg', 'png'];

/** For audio files, of any container: sound and covers, no video. */
export const AUDIO_FILE_DECODERS: readonly string[] = [
  ...Object.values(DECODERS.Audio).flat(),
  ...COVER_DECODERS,
];

export const isDecodableSound = ({ codec }: SourceStream): boolean => Object.hasOwn(DECODERS.Audio, codec);

export const isDecodableCover = ({ codec }: SourceStream): boolean => COVER_DECODERS.includes(codec);
