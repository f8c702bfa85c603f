// Builds the ffmpeg options of the audio renditions of a video, and of the run that measures them before.
import type { AudioTrack } from '../../model/audio-track.ts';
import { AUDIO_KILOBITS, audioRenditions } from '../source/audio-tracks.ts';
import { type FfmpegInput, inputArguments, MEASURING } from '../source/ffmpeg-input.ts';
import type { Timeline } from '../source/source-timeline.ts';
import { LOUDNESS_FILTER, summaryFilter } from './loudness.ts';
import { layoutFilter, type Normalization, normalizationFilters } from './normalization.ts';

/** The AAC encoder adds this many samples before the first. */
const PRIMING_SAMPLES = 1024;
/** Two packets, so that audio remains after the priming of a video with one frame. */
const MIN_AUDIO_SECONDS = 0.043;

/** Gaps of the clock become silence, so that the sound keeps its times. */
export const RESAMPLED = 'aresample=48000:async=1:first_pts=0';

type SoundPlan = {
  readonly audio: readonly AudioTrack[];
  readonly normalization?: readonly (Normalization | null)[] | undefined;
  readonly timeline: Timeline;
};

export function soundOptions({ audio, normalization, timeline }: SoundPlan): string[] {
  return audioRenditions(audio).flatMap(({ track, channels }, index) => [
    '-map',
    `0:${track.index}`,
    `-c:a:${index}`,
    'aac',
    `-b:a:${index}`,
    `${AUDIO_KILOBITS[channels]}k`,
    `-ac:a:${index}`,
    String(channels),
    `-ar:a:${index}`,
    '48000',
    `-filter:a:${index}`,
    soundFilter(timeline, [
      ...(track.isDefault && channels === 2 ? [LOUDNESS_FILTER] : []),
      ...normalizationFilters(normalization?.[index], channels),
    ]),
  ]);
}

/**
 * Audio from zero to the end of the video, padded with silence. The encoder's priming replaces the first 21
 * ms, because some players ignore edit lists.
 */
function soundFilter({ durationSeconds }: Timeline, filters: readonly string[]): string {
  const end = Math.max(durationSeconds, MIN_AUDIO_SECONDS);
  return [
    RESAMPLED,
    ...filters,
    `apad=whole_dur=${end}`,
    `atrim=start_sample=${PRIMING_SAMPLES}:end=${end}`,
  ].join(',');
}

type LevelsPlan = {
  readonly input: FfmpegInput;
  readonly audio: readonly AudioTrack[];
  /** Those of `input` where they differ from those of videos. */
  readonly decoders?: readonly string[];
  /** The rest of a longer file is not measured. */
  readonly maxSeconds: number;
};

/**
 * Prints one summary for each rendition of the tracks; `parseSummaries` reads them. They share a graph,
 * because the threads of several graphs would mix their lines.
 */
export function levelsArguments({ input, audio, decoders, maxSeconds }: LevelsPlan): string[] {
  const chains = audioRenditions(audio).map(({ track, channels }, index) => ({
    chain: [RESAMPLED, layoutFilter(channels), summaryFilter(index)].join(','),
    from: `[0:${track.index}]`,
    to: `[level${index}]`,
  }));
  return [
    ...MEASURING,
    ...inputArguments(input, [], decoders),
    '-filter_complex',
    chains.map(({ from, chain, to }) => `${from}${chain}${to}`).join(';'),
    ...chains.flatMap(({ to }) => ['-map', to]),
    '-t',
    String(maxSeconds),
    '-f',
    'null',
    '-',
  ];
}
