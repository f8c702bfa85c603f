// Builds the ffmpeg arguments for thumbnails and posters.
import type { PosterRequest } from '../encoder.ts';
import { OWN_FILE } from './ffmpeg-input.ts';
import { secondsBy } from '../packaging/thumbnail-choice.ts';

/** Extracts the last key frame of a segment as a JPEG at most 1280 pixels wide, in JPEG's colour space. */
export const thumbnailArguments = (segment: string, thumbnail: string): string[] => [
  ...OWN_FILE,
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

/**
 * Each frame up to the time overwrites the previous one. The first always passes, so there is an output.
 * Times count from it: those of ffmpeg are a frame or two late where B-frames have negative offsets.
 */
export const posterArguments = ({
  excerpt,
  output,
  startSeconds,
  timeMs,
}: Omit<PosterRequest, 'signal'>): string[] => [
  ...OWN_FILE,
  '-f',
  'mov',
  '-i',
  `file:${excerpt}`,
  '-vf',
  `setpts=PTS-STARTPTS,select='eq(n,0)+lt(t,${(secondsBy(timeMs) - startSeconds).toFixed(6)})',${AS_JPEG}`,
  '-fps_mode',
  'passthrough',
  ...jpegOptions(output),
];

/** Options of `scale`: from the colours of video to those of JPEG. */
export const AS_JPEG_COLOURS = 'in_color_matrix=bt709:out_color_matrix=bt601:out_range=pc';

const AS_JPEG = `scale='min(1280,iw)':-2:${AS_JPEG_COLOURS},format=yuv420p`;

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
