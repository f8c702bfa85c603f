// Builds the ffmpeg arguments for audio assets: a rendition with its loudness and waveform, and a thumbnail.
import { dashOptions } from './dash-options.ts';
import { LOUDNESS_FILTER } from './loudness.ts';
import { gainFilter, type Normalization, normalizationFilters } from './normalization.ts';
import { jpegOptions } from './poster-arguments.ts';
import { RESAMPLED } from './sound-options.ts';
import { AUDIO_FILE_DECODERS } from '../source/decoders.ts';
import {
  COMMON_OPTIONS,
  type FfmpegInput,
  inputArguments,
  OWN_FILE_INPUT,
  REPORTING,
} from '../source/ffmpeg-input.ts';
import type { Size } from '../../model/source.ts';
import { SAMPLE_RATE } from '../../model/waveform.ts';

/** File in the working folder of ffmpeg, to which each part of the waveform appends two lines. */
export const LEVELS_FILE = 'levels.txt';

/** hls.js never starts shorter sound. */
const MIN_SECONDS = 0.2;

type AudioPlan = {
  readonly input: FfmpegInput;
  /** Of the stream in the source. */
  readonly index: number;
  readonly kilobits: number;
  readonly normalization?: Normalization | null | undefined;
  /** The rest of a longer file is left out. */
  readonly maxSeconds: number;
  /** Samples of a part of the waveform. */
  readonly partSamples: number;
  readonly folder: string;
};

/** One run decodes the sound once, for the rendition and for the waveform. */
export function audioArguments({ index, folder, ...plan }: AudioPlan): string[] {
  const sound = ['-map', `0:${index}`, '-t', String(plan.maxSeconds)];
  return [
    ...REPORTING,
    ...inputArguments(plan.input, [], AUDIO_FILE_DECODERS),
    ...sound,
    '-c:a',
    'aac',
    '-b:a',
    `${plan.kilobits}k`,
    '-ac',
    '2',
    '-ar',
    String(SAMPLE_RATE),
    '-filter:a',
    [
      RESAMPLED,
      LOUDNESS_FILTER,
      ...normalizationFilters(plan.normalization, 2),
      `apad=whole_dur=${MIN_SECONDS}`,
    ].join(','),
    '-map_metadata',
    '-1',
    '-map_chapters',
    '-1',
    '-bitexact',
    ...dashOptions({ folder, rungs: 0, hasAudio: false }),
    ...sound,
    '-filter:a',
    levelFilter(plan),
    '-f',
    'null',
    '-',
  ];
}

/** The waveform shows the sound as it is played, without what a limiter takes from single peaks. */
const levelFilter = ({
  partSamples,
  normalization,
}: Pick<AudioPlan, 'partSamples' | 'normalization'>): string =>
  [
    RESAMPLED,
    ...(normalization ? [gainFilter(normalization)] : []),
    'aformat=sample_fmts=flt:channel_layouts=mono',
    `asetnsamples=n=${partSamples}:p=0`,
    'astats=metadata=1:reset=1:measure_perchannel=none:measure_overall=Min_level+Max_level',
    `ametadata=print:file=${LEVELS_FILE}`,
  ].join(',');

type Cover = { readonly input: FfmpegInput; readonly index: number; readonly output: string };

/** At most as wide as the thumbnails of videos. */
export const coverArguments = ({ input, index, output }: Cover): string[] => [
  ...COMMON_OPTIONS,
  '-loglevel',
  'error',
  ...inputArguments(input, [], AUDIO_FILE_DECODERS),
  '-map',
  `0:${index}`,
  '-frames:v',
  '1',
  '-vf',
  "scale='min(1280,iw)':-2:out_range=full,format=yuvj420p",
  ...jpegOptions(output),
];

type Pixels = { readonly pixels: string; readonly size: Size; readonly output: string };

/** `pixels`: path of a file with three bytes for each pixel. */
export const pictureArguments = ({ pixels, size, output }: Pixels): string[] => [
  ...OWN_FILE_INPUT,
  '-f',
  'rawvideo',
  '-pixel_format',
  'rgb24',
  '-video_size',
  `${size.width}x${size.height}`,
  '-i',
  `file:${pixels}`,
  '-frames:v',
  '1',
  '-vf',
  'scale=out_range=full,format=yuvj420p',
  ...jpegOptions(output),
];
