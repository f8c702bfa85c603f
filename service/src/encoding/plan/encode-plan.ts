// The one run of the engine that makes all renditions: source facts in, arguments out.
import { type EngineInput, GENERAL, inputArguments } from './engine-input.ts';
import { keyFrameExpression, longestGroup, SEGMENT_SECONDS } from './key-frames.ts';
import type { Rung } from './ladder.ts';
import type { Picture } from './source-facts.ts';
import { secondsOf, type Timeline } from './source-timeline.ts';
import { buildVideoGraph } from './video-graph.ts';

export type EncodePlan = {
  readonly input: EngineInput;
  readonly picture: Picture;
  readonly videoIndex: number;
  readonly audioIndex: number | undefined;
  readonly timeline: Timeline;
  readonly rungs: readonly Rung[];
  readonly folder: string;
};

const LONGEST_DELAY_SECONDS = 0.05;
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
  buildVideoGraph(plan),
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

function videoOptions({ rungs, timeline, input }: EncodePlan): string[] {
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
    String(longestGroup(timeline)),
    // B-frames delay the picture by one frame, which players that ignore the edit list show late: at low rates that is seen.
    ...(secondsOf(timeline.frameRate) > LONGEST_DELAY_SECONDS ? ['-bf', '0'] : []),
    // The delay of B-frames is in the edit list; without a pyramid it is one frame, which players that ignore the list hardly show.
    '-b-pyramid',
    'none',
    ...rungs.flatMap(({ profile, maxKilobits }, index) => [
      // One option for each rung: ffmpeg 7.0 applies an option for all rungs to the first alone.
      `-force_key_frames:v:${index}`,
      keyFrameExpression(timeline),
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
