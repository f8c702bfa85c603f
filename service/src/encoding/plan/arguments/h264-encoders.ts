// The encoders of H.264: x264, and those of GPUs.
import { CODEC_FACTS } from '../../model/codecs.ts';

export type HardwareEncoder = 'nvenc' | 'vaapi';
export type H264Encoder = 'x264' | HardwareEncoder;
export type VideoEncoderSetting = 'software' | 'auto' | HardwareEncoder;

/** In the order in which they are tried. */
export const HARDWARE_CANDIDATES: Readonly<Record<VideoEncoderSetting, readonly HardwareEncoder[]>> = {
  software: [],
  auto: ['nvenc', 'vaapi'],
  nvenc: ['nvenc'],
  vaapi: ['vaapi'],
};

/** Names have no `-` and no stream. */
export type StreamOptions = Readonly<Record<string, string>>;

type EncoderFacts = {
  /** Name in ffmpeg. */
  readonly codec: string;
  /** Global options, before all others. */
  readonly device: readonly string[];
  /** Undefined: the preset and crf of the rung. */
  readonly quality?: StreamOptions;
  /** Average bit rate as a part of the maximum, where the encoder needs one. */
  readonly averageOfMax?: number;
  /** Filters that copy frames to the GPU. */
  readonly upload?: string;
  /** Those for threads, scene changes and B-frame pyramids. */
  readonly hasX264Options: boolean;
};

export const H264_ENCODERS: Readonly<Record<H264Encoder, EncoderFacts>> = {
  x264: { codec: CODEC_FACTS.h264.encoder, device: [], hasX264Options: true },
  nvenc: {
    codec: 'h264_nvenc',
    device: [],
    quality: { preset: 'p4', rc: 'vbr', cq: '23', 'no-scenecut': '1', 'forced-idr': '1' },
    hasX264Options: false,
  },
  vaapi: {
    codec: 'h264_vaapi',
    device: ['-init_hw_device', 'vaapi=gpu', '-filter_hw_device', 'gpu'],
    quality: { rc_mode: 'QVBR', global_quality: '23' },
    averageOfMax: 0.7,
    upload: 'format=nv12,hwupload',
    hasX264Options: false,
  },
};
