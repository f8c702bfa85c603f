// Builds the ffmpeg arguments for thumbnails and posters.
import type { PosterRequest } from '../../encoder.ts';
import type { PictureTrack } from '../source/colour-matrix.ts';
import { OWN_FILE_INPUT } from '../source/ffmpeg-input.ts';
import { pictureFilter } from './picture-filter.ts';
import { secondsBy } from '../../model/thumbnail-choice.ts';

/** `excerpt`: the init segment and a media segment of the track. */
type PictureFiles = Pick<PosterRequest, 'excerpt' | 'output'> & { readonly track: PictureTrack };

/** Extracts the last key frame of a segment as a JPEG at most 1280 pixels wide, in JPEG's colour space. */
export const thumbnailArguments = ({ excerpt, output, track }: PictureFiles): string[] => [
  ...OWN_FILE_INPUT,
  '-skip_frame',
  'nokey',
  '-f',
  'mov',
  '-i',
  `file:${excerpt}`,
  '-vf',
  `reverse,${toJpeg(track)}`,
  '-frames:v',
  '1',
  ...jpegOptions(output),
];

/**
 * Each frame up to the time overwrites the previous one. The first always passes, so there is an output.
 * Times count from it: those of ffmpeg are a frame or two late where B-frames have negative offsets.
 */
export const posterArguments = ({
  excerpt,
  output,
  startSeconds,
  timeMs,
  track,
}: Omit<PosterRequest, 'signal'> & PictureFiles): string[] => [
  ...OWN_FILE_INPUT,
  '-f',
  'mov',
  '-i',
  `file:${excerpt}`,
  '-vf',
  [
    'setpts=PTS-STARTPTS',
    `select='eq(n,0)+lt(t,${(secondsBy(timeMs) - startSeconds).toFixed(6)})'`,
    toJpeg(track),
  ].join(','),
  '-fps_mode',
  'passthrough',
  ...jpegOptions(output),
];

const toJpeg = (track: PictureTrack): string =>
  pictureFilter({ track, size: "'min(1280,iw)':-2", format: 'jpeg' });

/** One picture; each overwrites the one before. */
export const jpegOptions = (path: string): string[] => [...jpegSequence(4), '-update', '1', `file:${path}`];

/** Pictures with consecutive numbers. A lower `quality` number means larger files. The output follows. */
export const jpegSequence = (quality: number): string[] => [
  '-c:v',
  'mjpeg',
  '-q:v',
  String(quality),
  '-color_range',
  'pc',
  '-map_metadata',
  '-1',
  '-bitexact',
  '-f',
  'image2',
];
