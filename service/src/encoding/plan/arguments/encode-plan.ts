// Builds the ffmpeg arguments of a run that creates renditions: by encoding, or by copying the video stream.
import type { AudioTrack } from '../../model/audio-track.ts';
import type { Chunk } from '../ladder/chunk-plan.ts';
import { type FfmpegInput, readZero, REPORTING } from '../source/ffmpeg-input.ts';
import type { DynamicRange } from '../../model/codecs.ts';
import { statedColours } from '../source/colour-matrix.ts';
import { dashOptions } from './dash-options.ts';
import { H264_ENCODERS, type H264Encoder, type HardwareEncoder } from './h264-encoders.ts';
import type { Rung } from '../ladder/ladder.ts';
import type { Normalization } from './normalization.ts';
import { rungOptions } from './rung-options.ts';
import { seekArguments } from './seek-arguments.ts';
import { soundOptions } from './sound-options.ts';
import type { FrameFacts, SourceStream } from '../../model/source.ts';
import { gridTimes, MAX_GROUP_SECONDS, repeatsParameters, SEGMENT_SECONDS } from '../ladder/source-copy.ts';
import { secondsOf, type Timeline } from '../source/source-timeline.ts';
import { buildVideoGraph, graphThreads, PIXEL_FORMATS } from './video-graph.ts';

export type EncodePlan = {
  readonly input: FfmpegInput;
  readonly frame: FrameFacts;
  /** All streams of the source. */
  readonly streams: readonly SourceStream[];
  readonly videoIndex: number;
  readonly audio: readonly AudioTrack[];
  /** Of the renditions of `audio`; absent: the sound stays as it is. */
  readonly normalization?: readonly (Normalization | null)[] | undefined;
  readonly timeline: Timeline;
  /** All rungs have the same dynamic range. */
  readonly rungs: readonly Rung[];
  /** Encodes H.264. Runs with other codecs have `x264`. */
  readonly encoder: H264Encoder;
  /** `source`: those of the source, to match a copy of its video stream. `grid`: at regular intervals. */
  readonly keyFrames: 'grid' | 'source';
  /** Undefined: the whole video. */
  readonly chunk?: Chunk | undefined;
  readonly folder: string;
};

const LONGEST_DELAY_SECONDS = 0.05;

/** `hardwareArgs`: the same run on a GPU, which encodes only H.264. */
export const buildEncodeStep = (plan: Omit<EncodePlan, 'encoder'>) => ({
  args: encodeArguments({ ...plan, encoder: 'x264' }),
  ...(plan.rungs.every(({ codec }) => codec === 'h264') && {
    hardwareArgs: (encoder: HardwareEncoder) => encodeArguments({ ...plan, encoder }),
  }),
});

export function encodeArguments(plan: EncodePlan): string[] {
  const { device, upload } = H264_ENCODERS[plan.encoder];
  const args = runArguments(plan, [
    '-filter_complex_threads',
    String(graphThreads(plan, plan.input.threads)),
    '-filter_complex',
    buildVideoGraph({ ...plan, upload }),
    ...plan.rungs.flatMap((_, index) => ['-map', `[v${index}]`]),
    ...videoOptions(plan),
    ...(plan.keyFrames === 'source' ? SHOWN_TIMES : []),
  ]);
  return [...device, ...args];
}

type CopyPlan = Omit<EncodePlan, 'rungs' | 'encoder' | 'keyFrames'> & {
  readonly segmentSeconds: number | undefined;
};

/** Copies the video stream; audio is encoded, because a copy would lose its offset to the video. */
export const copyArguments = (plan: CopyPlan): string[] =>
  runArguments(plan, [
    ...['-map', `0:${plan.videoIndex}`, '-c:v', 'copy', ...statedColours(plan.frame)],
    ...gridTimes(plan.input.container, plan.timeline.frameRate),
    // The number that names the codec in MPEG-TS is no name in MP4.
    ...(repeatsParameters(plan.input.container) ? ['-tag:v', 'avc1'] : []),
    ...SHOWN_TIMES,
  ]);

/**
 * Segments start at the time of their first shown frame. Otherwise the delay of B-frames is in an edit list,
 * which differs between copied and encoded renditions and which some players ignore.
 */
const SHOWN_TIMES = ['-format_options', 'movflags=+negative_cts_offsets'] as const;

type RunPlan = Pick<
  EncodePlan,
  'input' | 'streams' | 'timeline' | 'audio' | 'normalization' | 'chunk' | 'folder'
> &
  Partial<Pick<EncodePlan, 'rungs'> & Pick<CopyPlan, 'segmentSeconds'>>;

const runArguments = (plan: RunPlan, video: readonly string[]): string[] => [
  ...REPORTING,
  ...seekArguments(plan),
  ...video,
  ...soundOptions(plan),
  '-sn',
  '-dn',
  '-map_metadata',
  '-1',
  '-map_chapters',
  '-1',
  '-bitexact',
  '-max_muxing_queue_size',
  '1024',
  ...dashOptions({ ...plan, rungs: plan.rungs?.length ?? 1, hasAudio: plan.audio.length > 0 }),
  ...readZero(plan.input.container, plan.streams),
];

/** Names in ffmpeg. */
const COLOURS: Readonly<Record<DynamicRange, { primaries: string; transfer: string; matrix: string }>> = {
  sdr: { primaries: 'bt709', transfer: 'bt709', matrix: 'bt709' },
  pq: { primaries: 'bt2020', transfer: 'smpte2084', matrix: 'bt2020nc' },
  hlg: { primaries: 'bt2020', transfer: 'arib-std-b67', matrix: 'bt2020nc' },
};

function videoOptions({ rungs, encoder, input, keyFrames, frame, ...plan }: EncodePlan): string[] {
  const { hasX264Options, upload } = H264_ENCODERS[encoder];
  const timeline = chunkTimeline(plan);
  const range = rungs[0]?.range ?? 'sdr';
  const { primaries, transfer, matrix } = COLOURS[range];
  return [
    ...(hasX264Options ? ['-threads:v', String(input.threads)] : []),
    // Uploaded frames have the pixel format of the GPU.
    ...(upload === undefined ? ['-pix_fmt', PIXEL_FORMATS[range]] : []),
    '-color_primaries',
    primaries,
    '-color_trc',
    transfer,
    '-colorspace',
    matrix,
    '-color_range',
    'tv',
    ...(hasX264Options ? ['-sc_threshold', '0'] : []),
    '-g',
    String(keyFrames === 'source' ? longestCopiedGroup(timeline) : longestGroup(timeline)),
    ...(keyFrames === 'source' ? ['-keyint_min', '1'] : []),
    // Players that ignore edit lists show B-frame video a frame late, which is visible at low frame rates.
    ...(secondsOf(timeline.frameRate) > LONGEST_DELAY_SECONDS ? ['-bf', '0'] : []),
    ...rungs.flatMap((rung, index) => [
      // One option per rung, because ffmpeg 7.0 applies an option for all rungs only to the first.
      `-force_key_frames:v:${index}`,
      keyFrames === 'source' ? 'source' : keyFrameExpression(timeline),
      ...rungOptions(rung, { index, threads: input.threads, encoder, hdrMetadata: frame.hdrMetadata }),
    ]),
  ];
}

/** The frames that a run encodes; key frames are counted from its first frame. */
const chunkTimeline = ({ timeline, chunk }: Pick<EncodePlan, 'timeline' | 'chunk'>): Timeline =>
  chunk ? { ...timeline, frames: chunk.frames } : timeline;

const GROUPS_PER_SEGMENT = 2;

type Frames = Pick<Timeline, 'frameRate' | 'frames'>;

/** Frames per group. Rounded up, because groups that do not fill a segment make ffmpeg cut one group late. */
const groupFrames = ({ frameRate }: Frames): number =>
  Math.ceil(SEGMENT_SECONDS / GROUPS_PER_SEGMENT / secondsOf(frameRate) - 0.001);

/** Frames of the longest possible group: the last one may include the tail. */
export const longestGroup = (timeline: Frames): number => 2 * groupFrames(timeline);

/** Longer than any group of a video stream that is copied into the ladder. */
const longestCopiedGroup = ({ frameRate }: Frames): number =>
  Math.ceil((2 * MAX_GROUP_SECONDS.keep) / secondsOf(frameRate));

/** Upper bound in whole seconds: a segment ends at the first key frame after the segment duration. */
export const maxSegmentSeconds = (groupSeconds: number, segmentSeconds: number = SEGMENT_SECONDS): number =>
  Math.ceil(segmentSeconds + groupSeconds);

/** The time between two key frames of a regular grid. */
export const gridGroupSeconds = (timeline: Frames): number =>
  secondsOf(timeline.frameRate, groupFrames(timeline));

/**
 * A key frame at the start of each group. A tail shorter than half a segment joins the previous one, because
 * hls.js never ends a stream with a very short last segment.
 */
export const keyFrameExpression = (timeline: Frames): string =>
  `expr:not(mod(n,${groupFrames(timeline)}))*lt(n,${lastKeyFrameLimit(timeline)})`;

function lastKeyFrameLimit(timeline: Frames): number {
  const group = groupFrames(timeline);
  const tail = timeline.frames % (group * GROUPS_PER_SEGMENT);
  const isMerged = tail < group && tail < timeline.frames;
  return isMerged ? timeline.frames - tail : timeline.frames;
}

/** The first frame of each segment of a rendition with a regular grid of key frames. */
export function gridSegmentStarts(timeline: Frames): readonly number[] {
  const segment = groupFrames(timeline) * GROUPS_PER_SEGMENT;
  const count = Math.ceil(lastKeyFrameLimit(timeline) / segment);
  return Array.from({ length: count }, (_, index) => index * segment);
}

const OUTPUT_SLACK_BYTES = 64 * 1024 ** 2;

/** Twice the allowed bit rates, which only a defect can exceed. */
export const maxOutputBytes = (kilobits: readonly number[], seconds: number): number =>
  OUTPUT_SLACK_BYTES + 2 * 125 * seconds * kilobits.reduce((total, rate) => total + rate, 0);
