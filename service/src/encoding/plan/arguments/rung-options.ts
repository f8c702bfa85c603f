// The ffmpeg options of one rung: its encoder, quality and limits.
import { CODEC_FACTS, type Codec } from '../../model/codecs.ts';
import type { HdrMetadata } from '../../model/source.ts';
import { toSvtAv1Options, toX265Options } from '../source/hdr-source.ts';
import type { Rung } from '../ladder/ladder.ts';
import { H264_ENCODERS, type H264Encoder, type StreamOptions } from './h264-encoders.ts';

type RungContext = {
  readonly index: number;
  readonly threads: number;
  readonly encoder: H264Encoder;
  /** The metadata of the source. */
  readonly hdrMetadata?: HdrMetadata | undefined;
};

/** Every option names its stream, because ffmpeg refuses an option that the encoder of a stream lacks. */
/** Of the decoder that x264 keeps from running dry (VBV): a segment exceeds the limit by no more. */
export const BUFFER_SECONDS = 2;

export function rungOptions(rung: Rung, context: RungContext): string[] {
  const { codec, maxKilobits, options } = rung;
  const { codec: h264, quality, averageOfMax } = H264_ENCODERS[context.encoder];
  const named: StreamOptions = {
    c: codec === 'h264' ? h264 : CODEC_FACTS[codec].encoder,
    ...(quality ?? { preset: options.preset, crf: String(options.crf) }),
    ...(averageOfMax && { b: `${Math.round(averageOfMax * maxKilobits)}k` }),
    maxrate: `${maxKilobits}k`,
    bufsize: `${BUFFER_SECONDS * maxKilobits}k`,
    ...CODEC_OPTIONS[codec](rung, context),
  };
  return Object.entries(named).flatMap(([option, value]) => [`-${option}:v:${context.index}`, value]);
}

/** Tone mapping makes the metadata of the source meaningless in SDR. */
const keptMetadata = ({ range }: Rung, { hdrMetadata = {} }: RungContext): HdrMetadata =>
  range === 'sdr' ? {} : hdrMetadata;

const CODEC_OPTIONS: Readonly<Record<Codec, (rung: Rung, context: RungContext) => StreamOptions>> = {
  h264: ({ profile }, { encoder }) => ({
    profile,
    // Without a pyramid the delay of B-frames is one frame, hardly visible where edit lists are ignored.
    ...(H264_ENCODERS[encoder].hasX264Options && { 'b-pyramid': 'none' }),
  }),
  // More threads per rung cost memory without a benefit, because the rungs are encoded in parallel.
  // Without the second parameter, SVT-AV1 1.4 (ffmpeg 5.1) ignores forced key frames.
  av1: (rung, context) => ({
    'svtav1-params': [
      'lp=1',
      'enable-force-key-frames=1',
      ...toSvtAv1Options(keptMetadata(rung, context)),
    ].join(':'),
  }),
  hevc: (rung, context) => ({
    // Apple's players need the parameter sets in the init segment, which this tag announces.
    tag: 'hvc1',
    'forced-idr': '1',
    'x265-params': [
      'log-level=error:info=0:scenecut=0:open-gop=0:b-pyramid=0:frame-threads=1',
      `pools=${context.threads}`,
      ...toX265Options(keptMetadata(rung, context)),
    ].join(':'),
  }),
};
