// Builds the ffmpeg arguments that copy an audio track of a video, without decoding it.
import type { AudioTrack } from '../../model/audio-track.ts';
import type { SourceStream } from '../../model/source.ts';
import { COMMON_OPTIONS, type FfmpegInput, readZero, REPORTING } from '../source/ffmpeg-input.ts';
import type { Timeline } from '../source/source-timeline.ts';
import { dashOptions } from './dash-options.ts';
import { seekArguments } from './seek-arguments.ts';

export type SoundCopy = {
  readonly input: FfmpegInput;
  readonly timeline: Timeline;
  /** All streams of the source. */
  readonly streams: readonly SourceStream[];
  readonly track: AudioTrack;
};

const copied = ({ track, ...source }: SoundCopy): string[] => [
  ...seekArguments(source),
  '-map',
  `0:${track.index}`,
  '-c:a',
  'copy',
];

/** Lists the first packet. */
export const firstPacketArguments = (plan: SoundCopy): string[] => [
  ...COMMON_OPTIONS,
  '-loglevel',
  'error',
  ...copied(plan),
  '-frames:a',
  '1',
  '-f',
  'framecrc',
  'pipe:1',
  ...readZero(plan.input.container, plan.streams),
];

/** Times start at zero, because fragments cannot state the start of a copy. */
export const soundCopyArguments = ({
  folder,
  ...plan
}: SoundCopy & { readonly folder: string }): string[] => [
  ...REPORTING,
  ...copied(plan),
  '-t',
  String(plan.timeline.durationSeconds),
  '-map_metadata',
  '-1',
  '-map_chapters',
  '-1',
  '-bitexact',
  '-format_options',
  'use_editlist=0',
  ...dashOptions({ folder, rungs: 0, hasAudio: false }),
  ...readZero(plan.input.container, plan.streams),
];
