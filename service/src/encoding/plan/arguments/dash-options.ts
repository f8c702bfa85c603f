// Output options of ffmpeg for the segments of a run.
import { SEGMENT_SECONDS } from '../ladder/source-copy.ts';

/**
 * Longer than any segment of video, so that ffmpeg cuts the sound only where it cuts the video. A cut of its
 * own would leave a last segment of a few milliseconds.
 */
const SOUND_SECONDS = 60;

/** A set of its own for each rung: ffmpeg refuses rungs of a set whose rounded aspect ratios differ. */
function soundSets(rungs: number): string[] {
  const sets = Array.from({ length: rungs }, (_, index) => `id=${index},streams=${index}`);
  return ['-adaptation_sets', [...sets, `id=${rungs},seg_duration=${SOUND_SECONDS},streams=a`].join(' ')];
}

type SegmentedOutput = {
  readonly folder: string;
  /** Video streams, which come before those of sound. */
  readonly rungs: number;
  readonly hasAudio: boolean;
  readonly segmentSeconds?: number | undefined;
};

/** `r0-init.mp4`, `r0-00001.m4s` …, numbered in the order of the maps. The manifest of ffmpeg is not used. */
export const dashOptions = ({
  folder,
  rungs,
  hasAudio,
  segmentSeconds = SEGMENT_SECONDS,
}: SegmentedOutput): string[] => [
  '-f',
  'dash',
  '-seg_duration',
  String(segmentSeconds),
  ...(hasAudio ? soundSets(rungs) : []),
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
