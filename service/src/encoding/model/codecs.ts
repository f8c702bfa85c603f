// The video codecs and dynamic ranges of renditions: encoder, cost, and how much bit rate each needs.

import { EXTRA_CODECS, type ExtraCodec, HDR_RANGES, type HdrRange } from '@mediary/contract/enums';

export type Codec = 'h264' | ExtraCodec;
/** In the order of manifests: H.264, which every device decodes, is the first. */
export const CODECS: readonly Codec[] = ['h264', ...EXTRA_CODECS];

export type DynamicRange = 'sdr' | HdrRange;

/** Renditions between which players switch (CMAF): one codec, one dynamic range. */
export type SwitchingSet = { readonly codec: Codec; readonly range: DynamicRange };
/** In the order of encodes and manifests: what every device plays is the first, HDR is the last. */
export const SWITCHING_SETS: readonly SwitchingSet[] = [
  ...CODECS.map((codec) => ({ codec, range: 'sdr' }) as const),
  ...EXTRA_CODECS.flatMap((codec) => HDR_RANGES.map((range) => ({ codec, range }))),
];

/** What every device plays. */
export const MAIN_SET: SwitchingSet = { codec: 'h264', range: 'sdr' };

/** Encoder settings that operators choose. */
export type CodecOptions = { readonly crf: number; readonly preset: string };

type CodecFacts = {
  readonly encoder: string;
  /** Bit rate for the same quality, relative to H.264. */
  readonly bitrate: number;
  /** Processor time per pixel, relative to H.264; measured with the default presets. */
  readonly cost: number;
  /** Id of its largest rendition in SDR; the ids of audio follow those of H.264. */
  readonly firstTrackId: number;
};

export const CODEC_FACTS: Readonly<Record<Codec, CodecFacts>> = {
  h264: { encoder: 'libx264', bitrate: 1, cost: 1, firstTrackId: 0 },
  av1: { encoder: 'libsvtav1', bitrate: 0.6, cost: 2.5, firstTrackId: 100 },
  hevc: { encoder: 'libx265', bitrate: 0.7, cost: 2.5, firstTrackId: 200 },
};

/** A video has one HDR range, so PQ and HLG share ids. */
const HDR_TRACK_IDS = 200;

/** Id of the largest rendition of a set. */
export const firstTrackId = ({ codec, range }: SwitchingSet): number =>
  CODEC_FACTS[codec].firstTrackId + (range === 'sdr' ? 0 : HDR_TRACK_IDS);

/** Source codec in ffmpeg → its bit rate for the same quality, relative to H.264. Others count as H.264. */
const SOURCE_BITRATES: Readonly<Record<string, number>> = {
  av1: 0.6,
  hevc: 0.7,
  vp9: 0.7,
  mpeg4: 1.4,
  mpeg2video: 2,
  mpeg1video: 2.5,
  h263: 2,
  mjpeg: 4,
  prores: 6,
  dnxhd: 6,
};

export const sourceBitrateFactor = (codec: string): number =>
  Object.hasOwn(SOURCE_BITRATES, codec) ? (SOURCE_BITRATES[codec] ?? 1) : 1;
