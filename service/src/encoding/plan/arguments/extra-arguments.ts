// Builds the ffmpeg arguments for storyboards, previews, MP4 and M4A files and frames.
import { MAX_VIDEO_PIXELS } from '@mediary/media-rules/file-limits';
import type { ExtraRequest } from '../../encoder.ts';
import { type PreviewPart, PREVIEW_LENGTH } from '../../model/preview.ts';
import { OWN_FILE_INPUT } from '../source/ffmpeg-input.ts';
import type { PictureTrack } from '../source/colour-matrix.ts';
import { pictureFilter } from './picture-filter.ts';
import { jpegOptions, jpegSequence } from './poster-arguments.ts';

/** Limit of the file: 4 GiB hold two hours of 720p. */
export const MAX_MP4_BYTES = 4 * 1024 ** 3;

type Of<K extends ExtraRequest['kind']> = Extract<ExtraRequest, { kind: K }>;

type PictureRequest = Exclude<ExtraRequest, { kind: 'file' }>;

/** `track`: that of the excerpt. */
export function pictureArguments(request: PictureRequest, track: PictureTrack): string[] {
  switch (request.kind) {
    case 'storyboard':
      return storyboardArguments(request, track);
    case 'preview':
      return previewArguments(request, track);
    case 'frame':
      return frameArguments(request, track);
  }
}

const SOURCE = [...OWN_FILE_INPUT, '-max_pixels', String(MAX_VIDEO_PIXELS)] as const;
const input = (path: string) => ['-f', 'mov', '-i', `file:${path}`];
const output = (format: string, path: string) => [
  '-map_metadata',
  '-1',
  '-bitexact',
  '-f',
  format,
  `file:${path}`,
];

/** Key frames only. The last one is repeated, so that every planned tile and sprite exists. */
function storyboardArguments(
  { excerpt, plan, output: path }: Of<'storyboard'>,
  track: PictureTrack,
): string[] {
  const { intervalSeconds, tile, columns, rows, sprites } = plan;
  return [
    ...SOURCE,
    '-skip_frame',
    'nokey',
    ...input(excerpt),
    '-an',
    '-vf',
    [
      // `fps` drops a single frame without this.
      `tpad=stop_mode=clone:stop_duration=${intervalSeconds}`,
      `fps=1/${intervalSeconds}:start_time=0`,
      pictureFilter({ track, size: `${tile.width}:${tile.height}`, format: 'jpeg' }),
      'tpad=stop_mode=clone:stop=-1',
      `tile=${columns}x${rows}`,
    ].join(','),
    '-frames:v',
    String(sprites),
    ...jpegSequence(5),
    '-start_number',
    '1',
    `file:${path}`,
  ];
}

const PREVIEW_FPS = 12;
const PREVIEW_SIDES = `'min(iw,${PREVIEW_LENGTH})':'min(ih,${PREVIEW_LENGTH})'`;

/** Joins the parts, which are gaps apart in the excerpt, to one sequence. */
const previewArguments = (
  { excerpt, parts, frameRate, output: path }: Of<'preview'>,
  track: PictureTrack,
): string[] => [
  ...SOURCE,
  ...input(excerpt),
  '-an',
  '-vf',
  [
    `select='${parts.map(isWithin).join('+')}'`,
    `setpts=N/(${frameRate}*TB)`,
    `fps=${PREVIEW_FPS}`,
    pictureFilter({
      track,
      size: `${PREVIEW_SIDES}:force_original_aspect_ratio=decrease`,
      format: 'webp',
    }),
  ].join(','),
  '-c:v',
  'libwebp_anim',
  '-loop',
  '0',
  '-quality',
  '60',
  '-compression_level',
  '4',
  ...output('webp', path),
];

const isWithin = ({ start, end }: PreviewPart): string =>
  `gte(t,${start.toFixed(3)})*lt(t,${end.toFixed(3)})`;

/** The first frame that is not before the time by a whole frame. */
const frameArguments = (
  { excerpt, seconds, frameRate, width, output: path }: Of<'frame'>,
  track: PictureTrack,
): string[] => [
  ...SOURCE,
  '-threads',
  '1',
  ...input(excerpt),
  '-an',
  '-vf',
  [
    // ffmpeg reads the times of tracks with negative composition offsets a frame late.
    'setpts=PTS-STARTPTS',
    `select='gt(t,${(seconds - 1 / frameRate).toFixed(6)})'`,
    pictureFilter({ track, size: `'min(${width},iw)':-2`, format: 'jpeg' }),
  ].join(','),
  '-frames:v',
  '1',
  ...jpegOptions(path),
];

type FileRequest = Of<'file'>;

/** Copies the tracks of all excerpts; players can start before they have the whole file. */
export const fileArguments = ({ excerpts, output: path }: FileRequest): string[] => [
  ...SOURCE,
  ...excerpts.flatMap(input),
  ...excerpts.flatMap((_, index) => ['-map', `${index}:0`]),
  '-c',
  'copy',
  '-movflags',
  '+faststart',
  ...output('mp4', path),
];
