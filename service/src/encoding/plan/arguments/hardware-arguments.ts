// Rewrites the arguments of a software encode for the video encoder of a GPU.

export type HardwareEncoder = 'nvenc' | 'vaapi';
export type VideoEncoderSetting = 'software' | 'auto' | HardwareEncoder;

/** In the order in which they are tried. */
export const HARDWARE_CANDIDATES: Readonly<Record<VideoEncoderSetting, readonly HardwareEncoder[]>> = {
  software: [],
  auto: ['nvenc', 'vaapi'],
  nvenc: ['nvenc'],
  vaapi: ['vaapi'],
};

type Rewriting = {
  readonly codec: string;
  /** Global options, before all others. */
  readonly device: readonly string[];
  /** Replace the options of x264 that have no meaning here. */
  readonly options: readonly string[];
  readonly dropped: RegExp;
  /** Copies frames to the GPU. */
  readonly upload?: string;
  /** Average bit rate as a part of the maximum, where the encoder needs one. */
  readonly averageOfMax?: number;
};

const X264_OPTIONS = 'crf|preset|tune|sc_threshold|b-pyramid|x264-params|x264opts|threads:v';

const REWRITINGS: Readonly<Record<HardwareEncoder, Rewriting>> = {
  nvenc: {
    codec: 'h264_nvenc',
    device: [],
    options: ['-preset', 'p4', '-rc', 'vbr', '-cq', '23', '-no-scenecut', '1', '-forced-idr', '1'],
    dropped: RegExp(`^-(?:${X264_OPTIONS})(?::|$)`),
  },
  vaapi: {
    codec: 'h264_vaapi',
    device: ['-init_hw_device', 'vaapi=gpu', '-filter_hw_device', 'gpu'],
    options: ['-rc_mode', 'QVBR', '-global_quality', '23'],
    dropped: RegExp(`^-(?:${X264_OPTIONS}|pix_fmt)(?::|$)`),
    upload: 'format=nv12,hwupload',
    averageOfMax: 0.7,
  },
};

const CODEC = /^-(?:c|codec):v(?::\d+)?$/;
const MAX_RATE = /^-maxrate:(v:\d+)$/;

/** Other arguments than those of an x264 encode are returned unchanged. */
export function toHardwareArguments(args: readonly string[], encoder: HardwareEncoder): readonly string[] {
  const codecs = args.filter((_, index) => CODEC.test(args[index - 1] ?? ''));
  if (codecs.length === 0 || codecs.some((codec) => codec !== 'libx264')) return args;
  const rewriting = REWRITINGS[encoder];
  const rewritten: string[] = [...rewriting.device];
  for (let index = 0; index < args.length; index++) {
    const [option = '', value = ''] = args.slice(index, index + 2);
    if (rewriting.dropped.test(option)) index += 1;
    else if (isRewritten(option)) {
      rewritten.push(...rewriteOption(option, value, rewriting));
      index += 1;
    } else rewritten.push(option);
  }
  return rewritten;
}

const isRewritten = (option: string): boolean =>
  CODEC.test(option) || MAX_RATE.test(option) || option === '-filter_complex';

function rewriteOption(option: string, value: string, rewriting: Rewriting): readonly string[] {
  if (CODEC.test(option)) {
    const stream = option.slice(option.indexOf(':'));
    const options = rewriting.options.map((each, at) => (at % 2 === 0 ? `${each}${stream}` : each));
    return [option, rewriting.codec, ...options];
  }
  if (option === '-filter_complex') return [option, withUpload(value, rewriting)];
  const [, stream] = MAX_RATE.exec(option) ?? [];
  const kilobits = Math.round(Number.parseInt(value, 10) * (rewriting.averageOfMax ?? 0));
  return [...(kilobits > 0 ? [`-b:${stream}`, `${kilobits}k`] : []), option, value];
}

/** The outputs `[v0]`, `[v1]` … of the graph pass through the upload. */
function withUpload(graph: string, { upload }: Rewriting): string {
  if (upload === undefined) return graph;
  const outputs = [...new Set(graph.match(/\[v\d+\]/g))];
  const renamed = graph.replaceAll(/\[v(\d+)\]/g, '[soft$1]');
  return [renamed, ...outputs.map((label) => `${label.replace('v', 'soft')}${upload}${label}`)].join(';');
}
