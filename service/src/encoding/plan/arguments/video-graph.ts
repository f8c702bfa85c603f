// Builds the filter graph: converts frame rate and colour space, and scales to each rung.
import type { Chunk } from '../ladder/chunk-plan.ts';
import type { DynamicRange } from '../../model/codecs.ts';
import { type ColourMatrix, matrixOfFrame } from '../source/colour-matrix.ts';
import type { Rung } from '../ladder/ladder.ts';
import type { Size, FrameFacts } from '../../model/source.ts';
import { isWideGamut } from '../source/source-facts.ts';
import type { Timeline } from '../source/source-timeline.ts';

type VideoGraph = {
  readonly frame: FrameFacts;
  readonly videoIndex: number;
  readonly timeline: Timeline;
  /** All rungs have the same dynamic range. */
  readonly rungs: readonly Rung[];
  /** Undefined: the whole video. */
  readonly chunk?: Chunk | undefined;
  /** Filters that copy the frames of each rung to a GPU. */
  readonly upload?: string | undefined;
};

export const PIXEL_FORMATS: Readonly<Record<DynamicRange, string>> = {
  sdr: 'yuv420p',
  pq: 'yuv420p10le',
  hlg: 'yuv420p10le',
};

/** The last frame is repeated longer than planned, so a variable frame rate cannot shorten the video. */
const SLACK_SECONDS = 1;

/** Each rung is scaled from the previous one, which is faster than scaling all from the source. */
export function buildVideoGraph(graph: VideoGraph): string {
  const { videoIndex, rungs, upload } = graph;
  const [top, ...lower] = rungs as readonly [Rung, ...Rung[]];
  const output = upload === undefined ? 'v' : 'soft';
  const chains = [top, ...lower].map((rung, index) => {
    const scaling = index === 0 ? topChain(graph, rung) : `[n${index}]${scaleRendition(rung)},setsar=1`;
    const label = `[${output}${index}]`;
    return index === lower.length ? `${scaling}${label}` : `${scaling},split=2${label}[n${index + 1}]`;
  });
  const uploads = upload === undefined ? [] : rungs.map((_, index) => `[soft${index}]${upload}[v${index}]`);
  return `[0:${videoIndex}]${[...chains, ...uploads].join(';')}`;
}

const scale = ({ width, height }: Size, flags = 'bicubic'): string =>
  `scale=${width}:${height}:flags=${flags}`;

const RENDITION_MATRICES: Readonly<Record<DynamicRange, ColourMatrix>> = {
  sdr: 'bt709',
  pq: 'bt2020',
  hlg: 'bt2020',
};

/**
 * States both matrices: ffmpeg 7.0 takes the matrix of its input from the filter graph, not from the frames,
 * and would convert the pixels of a BT.601 source back.
 */
function scaleRendition(rung: Rung): string {
  const matrix = RENDITION_MATRICES[rung.range];
  return `${scale(rung)}:in_color_matrix=${matrix}:out_color_matrix=${matrix}:in_range=tv:out_range=tv`;
}

/**
 * Far smaller pictures are averages of the source's pixels: a little softer, and five times as fast, so that
 * the first rendition is soon complete.
 */
const scaleSource = ({ displaySize }: FrameFacts, top: Rung): string =>
  scale(top, pixelsOf(displaySize) >= MIN_PIXELS_TO_AVERAGE * pixelsOf(top) ? 'area' : 'bicubic');

/** For one pixel of the rendition. */
const MIN_PIXELS_TO_AVERAGE = 9;

const pixelsOf = ({ width, height }: Size): number => width * height;

function topChain({ frame, timeline, chunk }: VideoGraph, top: Rung): string {
  return [
    // Interlaced videos are not divided into chunks.
    ...(chunk ? chunkFrames(timeline, chunk) : wholeFrames(frame, timeline)),
    ...(top.range === 'sdr' ? toBt709(frame, top) : toBt2100(frame, top)),
    'setsar=1',
    `format=${PIXEL_FORMATS[top.range]}`,
    // Elsewhere than at the end, a repeated frame would hide one that is missing.
    ...(chunk?.isLast === false ? [] : [repeatLastFrame(timeline)]),
    `trim=end_frame=${chunk?.frames ?? timeline.frames}`,
  ].join(',');
}

/** Frames at the rate of the renditions, from zero. */
export const wholeFrames = ({ interlaced }: FrameFacts, timeline: Timeline): readonly string[] => [
  WITHOUT_CAPTIONS,
  ...(interlaced ? ['bwdif=mode=send_field:deint=interlaced'] : []),
  `${frameRateFilter(timeline)}:start_time=0`,
];

/**
 * Closed captions become captions of the asset. Encoders would repeat them in the stream, and some versions
 * of ffmpeg garble them where the frame rate changes.
 */
const WITHOUT_CAPTIONS = 'sidedata=mode=delete:type=A53_CC';

const frameRateFilter = ({ frameRate }: Timeline): string =>
  `fps=${frameRate.numerator}/${frameRate.denominator}`;

export const repeatLastFrame = ({ holdSeconds }: Timeline): string =>
  `tpad=stop_mode=clone:stop_duration=${holdSeconds + SLACK_SECONDS}`;

/**
 * Behind `fps`, timestamps are numbers of frames. Only the first chunk starts at zero: the filter would fill
 * the time before the first decoded frame of another one. `setpts` makes the frame rate unknown.
 */
const chunkFrames = (timeline: Timeline, { firstFrame, frames, isLast }: Chunk): readonly string[] => [
  WITHOUT_CAPTIONS,
  `${frameRateFilter(timeline)}${firstFrame === 0 ? ':start_time=0' : ''}`,
  `trim=start_pts=${firstFrame}${isLast ? '' : `:end_pts=${firstFrame + frames}`}`,
  'setpts=PTS-STARTPTS',
  frameRateFilter(timeline),
];

/**
 * Scales without a change of colours. Metadata of single frames, such as HDR10+ and Dolby Vision, describes
 * them before the scaling; the metadata of the whole video is stated to the encoder.
 */
const toBt2100 = (frame: FrameFacts, top: Rung): readonly string[] => [
  `${scaleSource(frame, top)}:in_color_matrix=bt2020:out_color_matrix=bt2020:out_range=tv`,
  'sidedata=mode=delete',
];

/**
 * Scaling takes a small part of the time of an encode. With two threads instead of one, encodes on two
 * processors took 7 % more processor time.
 */
const ENCODER_THREADS_PER_FILTER = 4;

/** `threads`: those of the encoder. */
export function graphThreads({ frame, rungs }: Pick<VideoGraph, 'frame' | 'rungs'>, threads: number): number {
  const isSlow = frame.interlaced || (rungs[0]?.range === 'sdr' && convertColours(frame).length > 0);
  return isSlow ? threads : Math.ceil(threads / ENCODER_THREADS_PER_FILTER);
}

/** Scales and converts to BT.709, which all players display alike. */
function toBt709(frame: FrameFacts, top: Rung): readonly string[] {
  if (isPlainBt601(frame)) return [scaleSource(frame, top), BT601_TO_BT709];
  const matrix = frame.transfer === 'sdr' ? 'bt709' : 'bt2020';
  const matrices = `in_color_matrix=${matrixOfFrame(frame)}:out_color_matrix=${matrix}`;
  return [`${scaleSource(frame, top)}:${matrices}:out_range=tv`, ...convertColours(frame)];
}

/** What `scale` cannot convert; takes much longer than scaling. */
function convertColours(frame: FrameFacts): readonly string[] {
  if (frame.transfer !== 'sdr') return [ZSCALE_INPUT, ...toneMapping(frame)];
  return isWideGamut(frame) ? [ZSCALE_INPUT, convertPrimaries(frame)] : [];
}

/** Takes a sixth of the time of `scale`, and works at the size of the rung. */
const BT601_TO_BT709 = `colorspace=${[
  ...['ispace=smpte170m', 'iprimaries=bt709', 'itrc=bt709', 'irange=tv'],
  ...['space=bt709', 'primaries=bt709', 'trc=bt709', 'range=tv', 'format=yuv420p'],
].join(':')}`;

/** The conversion of other pixels is left to `scale`. */
const isPlainBt601 = (frame: FrameFacts): boolean =>
  frame.pixelFormat === 'yuv420p' &&
  !frame.fullRange &&
  frame.transfer === 'sdr' &&
  !isWideGamut(frame) &&
  matrixOfFrame(frame) === 'bt601';

/** zscale rejects some formats, such as 4:1:1 with a width that is not a multiple of four. */
const ZSCALE_INPUT = 'format=yuv420p10le';

/** Luminance in cd/m² of white paper in HDR video (BT.2408), which becomes nearly white in the renditions. */
const REFERENCE_WHITE_NITS = 203;
/** The luminance for which most displays master, and the nominal one of HLG. */
const DEFAULT_PEAK_NITS = 1000;
/** Tones up to this part of the reference white stay as they are; brighter ones are compressed. */
const LINEAR_PART = 0.7;

/** All properties of the input are stated, because zscale fails where the file leaves one out. */
const convertPrimaries = ({ primaries }: FrameFacts): string =>
  `zscale=tin=709:min=709:pin=${primaries}:rin=limited:t=709:m=709:p=709:r=limited`;

function toneMapping(frame: FrameFacts): readonly string[] {
  const transfer = frame.transfer === 'pq' ? 'smpte2084' : 'arib-std-b67';
  const primaries = isWideGamut(frame) ? frame.primaries : 'bt2020';
  const input = `tin=${transfer}:min=2020_ncl:pin=${primaries}:rin=limited`;
  return [
    `zscale=${input}:t=linear:p=709:npl=${REFERENCE_WHITE_NITS}`,
    'format=gbrpf32le',
    `tonemap=mobius:param=${LINEAR_PART}:peak=${peakOf(frame).toFixed(3)}:desat=0`,
    'zscale=t=709:m=709:r=limited',
    'format=yuv420p',
    // Brighter pixels than the stated peak would exceed the limited range.
    'limiter=max=235:planes=1',
    // ffmpeg 7.0 writes these into the renditions, where they would describe another picture.
    'sidedata=mode=delete:type=MASTERING_DISPLAY_METADATA',
    'sidedata=mode=delete:type=CONTENT_LIGHT_LEVEL',
  ];
}

/** Relative to the reference white. The curve needs a peak that is not below it. */
function peakOf({ transfer, peakNits }: FrameFacts): number {
  const nits = (transfer === 'pq' ? peakNits : null) ?? DEFAULT_PEAK_NITS;
  return Math.max(1, nits / REFERENCE_WHITE_NITS);
}
