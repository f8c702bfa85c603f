// The one run of the engine that makes all renditions: source facts in, arguments out.
import { type EngineInput, GENERAL, inputArguments } from './engine-input.ts';
import type { PosterOrder } from './encoder.ts';
import type { Rung, Size } from './ladder.ts';
import type { Picture } from './source-facts.ts';
import { type Timeline, secondsOf } from './source-timeline.ts';
import { secondsBy } from './thumbnail-choice.ts';

export type EncodePlan = {
  readonly input: EngineInput;
  readonly picture: Picture;
  readonly videoIndex: number;
  readonly audioIndex: number | undefined;
  readonly timeline: Timeline;
  readonly rungs: readonly Rung[];
  readonly folder: string;
};

const KEY_INTERVAL_SECONDS = 2;
const SEGMENT_SECONDS = 4;
const LONGEST_DELAY_SECONDS = 0.05;
/** What the last picture may be held beyond the plan, so that an uneven frame rate cannot leave the picture short. */
const SLACK_SECONDS = 1;
/** The AAC encoder puts this many samples of its own before the first. */
const PRIMING_SAMPLES = 1024;
/** Two packets, so that something is left after the priming of a film of one frame. */
const SHORTEST_SOUND_SECONDS = 0.043;

export const encodeArguments = (plan: EncodePlan): string[] => [
  ...GENERAL,
  '-loglevel',
  'error',
  '-progress',
  'pipe:1',
  '-stats_period',
  '0.5',
  ...inputArguments(plan.input, ['-itsoffset', String(plan.timeline.leadInSeconds)]),
  '-filter_complex_threads',
  String(plan.input.threads),
  '-filter_complex',
  videoGraph(plan),
  ...plan.rungs.flatMap((_, index) => ['-map', `[v${index}]`]),
  ...videoOptions(plan),
  ...(plan.audioIndex === undefined ? [] : audioOptions(plan.audioIndex, plan.timeline)),
  '-sn',
  '-dn',
  '-map_metadata',
  '-1',
  '-map_chapters',
  '-1',
  '-bitexact',
  '-max_muxing_queue_size',
  '1024',
  ...dashOptions(plan.folder),
];

/** Each rung is scaled from the one above it: cheaper than scaling all from the source. */
function videoGraph({ picture, videoIndex, timeline, rungs }: EncodePlan): string {
  const [top, ...lower] = rungs as readonly [Rung, ...Rung[]];
  const chains = [top, ...lower].map((rung, index) => {
    const scaling = index === 0 ? topChain(picture, rung, timeline) : `[n${index}]${scale(rung)},setsar=1`;
    return index === lower.length ? `${scaling}[v${index}]` : `${scaling},split=2[v${index}][n${index + 1}]`;
  });
  return `[0:${videoIndex}]${chains.join(';')}`;
}

const scale = ({ width, height }: Size): string => `scale=${width}:${height}:flags=bicubic`;

function topChain(picture: Picture, top: Rung, { frameRate, frames, holdSeconds }: Timeline): string {
  return [
    ...(picture.interlaced ? ['bwdif=deint=interlaced'] : []),
    `fps=${frameRate.numerator}/${frameRate.denominator}:start_time=0`,
    ...colours(picture, top),
    'setsar=1',
    'format=yuv420p',
    `tpad=stop_mode=clone:stop_duration=${holdSeconds + SLACK_SECONDS}`,
    `trim=end_frame=${frames}`,
  ].join(',');
}

/** Scales, and brings every source to the one colour space that all players show alike. */
function colours(picture: Picture, top: Rung): readonly string[] {
  if (picture.transfer === 'sdr')
    return [`${scale(top)}:in_color_matrix=${matrixOf(picture)}:out_color_matrix=bt709:out_range=tv`];
  const transfer = picture.transfer === 'pq' ? 'smpte2084' : 'arib-std-b67';
  const range = picture.fullRange ? 'full' : 'limited';
  return [
    scale(top),
    `zscale=tin=${transfer}:min=2020_ncl:pin=2020:rin=${range}:t=linear:npl=100`,
    'format=gbrpf32le',
    'zscale=p=709',
    'tonemap=hable:desat=0',
    'zscale=t=709:m=709:r=limited',
  ];
}

const MATRICES: Readonly<Record<string, string>> = {
  bt709: 'bt709',
  smpte170m: 'bt601',
  bt470bg: 'bt601',
  bt2020nc: 'bt2020',
  bt2020c: 'bt2020',
  fcc: 'fcc',
  smpte240m: 'smpte240m',
};

/** A film that does not name its matrix is taken as players take it: by size. */
const matrixOf = ({ matrix, shown }: Picture): string =>
  MATRICES[matrix] ?? (Math.min(shown.width, shown.height) >= 720 ? 'bt709' : 'bt601');

function videoOptions({ rungs, timeline, input }: EncodePlan): string[] {
  // Rounded up: two groups must fill a segment, or it is cut one group late.
  const keyInterval = String(Math.ceil(KEY_INTERVAL_SECONDS / secondsOf(timeline.frameRate) - 0.001));
  return [
    '-c:v',
    'libx264',
    '-preset',
    'veryfast',
    '-crf',
    '23',
    '-threads:v',
    String(input.threads),
    '-pix_fmt',
    'yuv420p',
    '-color_primaries',
    'bt709',
    '-color_trc',
    'bt709',
    '-colorspace',
    'bt709',
    '-color_range',
    'tv',
    '-sc_threshold',
    '0',
    '-g',
    keyInterval,
    '-keyint_min',
    keyInterval,
    // B-frames delay the picture by one frame, which players that ignore the edit list show late: at low rates that is seen.
    ...(secondsOf(timeline.frameRate) > LONGEST_DELAY_SECONDS ? ['-bf', '0'] : []),
    // The delay of B-frames stands in the edit list; without a pyramid it is one frame, hardly seen where a player ignores the list.
    '-b-pyramid',
    'none',
    ...rungs.flatMap(({ profile, maxKilobits }, index) => [
      `-profile:v:${index}`,
      profile,
      `-maxrate:v:${index}`,
      `${maxKilobits}k`,
      `-bufsize:v:${index}`,
      `${2 * maxKilobits}k`,
    ]),
  ];
}

/**
 * Sound from zero to the end of the picture, silence where there is none. What the encoder puts before the first sample takes the
 * place of the first 21 ms: so no edit list is needed, which some players ignore, and sound and picture agree everywhere.
 */
function audioOptions(index: number, { durationSeconds }: Timeline): string[] {
  const end = Math.max(durationSeconds, SHORTEST_SOUND_SECONDS);
  return [
    '-map',
    `0:${index}`,
    '-c:a',
    'aac',
    '-b:a',
    '128k',
    '-ac',
    '2',
    '-ar',
    '48000',
    '-af',
    `aresample=48000:async=1:first_pts=0,apad=whole_dur=${end},atrim=start_sample=${PRIMING_SAMPLES}:end=${end}`,
  ];
}

/** `r0-init.mp4`, `r0-00001.m4s` …, numbered in the order of the maps. The engine's own manifest is not used. */
const dashOptions = (folder: string): string[] => [
  '-f',
  'dash',
  '-seg_duration',
  String(SEGMENT_SECONDS),
  '-use_template',
  '1',
  '-use_timeline',
  '1',
  '-dash_segment_type',
  'mp4',
  '-window_size',
  '0',
  '-remove_at_exit',
  '0',
  '-init_seg_name',
  'r$RepresentationID$-init.mp4',
  '-media_seg_name',
  'r$RepresentationID$-$Number%05d$.m4s',
  `${folder}/engine.mpd`,
];

/** The last key frame of one finished segment, as a JPEG of at most 1280 pixels across, in JPEG's own colour space. */
export const thumbnailArguments = (segment: string, thumbnail: string): string[] => [
  ...GENERAL,
  '-loglevel',
  'error',
  '-protocol_whitelist',
  'file',
  '-skip_frame',
  'nokey',
  '-f',
  'mov',
  '-i',
  `file:${segment}`,
  '-vf',
  `reverse,${AS_JPEG}`,
  '-frames:v',
  '1',
  ...jpegOptions(thumbnail),
];

/** The picture that one finished segment shows at a time of the film: each up to then is written over the one before. The first passes always, lest there be none. */
export const posterArguments = ({
  excerpt,
  picture,
  timeMs,
}: Pick<PosterOrder, 'excerpt' | 'picture' | 'timeMs'>): string[] => [
  ...GENERAL,
  '-loglevel',
  'error',
  '-protocol_whitelist',
  'file',
  '-copyts',
  '-f',
  'mov',
  '-i',
  `file:${excerpt}`,
  '-vf',
  `select='eq(n,0)+lt(t,${secondsBy(timeMs).toFixed(6)})',${AS_JPEG}`,
  '-fps_mode',
  'passthrough',
  ...jpegOptions(picture),
];

const AS_JPEG =
  "scale='min(1280,iw)':-2:in_color_matrix=bt709:out_color_matrix=bt601:out_range=pc,format=yuv420p";

const jpegOptions = (path: string): string[] => [
  '-c:v',
  'mjpeg',
  '-q:v',
  '4',
  '-color_range',
  'pc',
  '-map_metadata',
  '-1',
  '-bitexact',
  '-f',
  'image2',
  '-update',
  '1',
  `file:${path}`,
];
