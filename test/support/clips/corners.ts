// Clips whose four corners have different colours, and the order of the colours in a frame.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type ClipOptions, ffmpegPath, makeClip } from './clips.ts';

export type Rgb = readonly [red: number, green: number, blue: number];
type Rotation = NonNullable<ClipOptions['rotation']>;

const COLOURS = {
  red: [255, 0, 0],
  green: [0, 255, 0],
  blue: [0, 0, 255],
  white: [255, 255, 255],
  black: [0, 0, 0],
} as const satisfies Record<string, Rgb>;
type ColourName = keyof typeof COLOURS;

/** In the coded picture: top left, top right, bottom left, bottom right. */
const CODED: readonly ColourName[] = ['red', 'green', 'blue', 'white'];
/** The index of the coded corner that is shown at each place. */
const SHOWN: Readonly<Record<Rotation, readonly number[]>> = {
  90: [2, 0, 3, 1],
  180: [3, 2, 1, 0],
  270: [1, 3, 0, 2],
};

/** The corners of an upright picture, in the same order. */
export const uprightCorners = (rotation: Rotation): readonly ColourName[] =>
  SHOWN[rotation].map((index) => CODED[index] as ColourName);

export const makeCornersClip = (rotation: Rotation): Promise<string> =>
  makeClip({ rotation, more: ['-vf', CODED.map(paintQuarter).join(',')] });

/** Colours of ffmpeg: its `green` is darker. */
const paintQuarter = (name: ColourName, index: number): string =>
  `drawbox=x=${index % 2}*iw/2:y=${Math.floor(index / 2)}*ih/2:w=iw/2:h=ih/2:t=fill:` +
  `color=${name === 'green' ? 'lime' : name}`;

/** The name of the nearest colour. */
export function nameColour(rgb: Rgb): ColourName {
  const distance = (name: ColourName) => Math.hypot(...COLOURS[name].map((part, i) => part - (rgb[i] ?? 0)));
  const names = Object.keys(COLOURS) as ColourName[];
  return names.reduce((nearest, name) => (distance(name) < distance(nearest) ? name : nearest));
}

/** The colours of the corners in the first frame, as ffmpeg decodes it. */
export async function readCorners(url: string): Promise<readonly ColourName[]> {
  const { stdout } = await promisify(execFile)(
    ffmpegPath(),
    [
      ...['-nostdin', '-hide_banner', '-loglevel', 'error', '-i', url, '-map', '0:v:0', '-frames:v', '1'],
      ...['-vf', 'format=rgb24,scale=2:2:flags=area', '-f', 'rawvideo', '-'],
    ],
    { encoding: 'buffer' },
  );
  return Array.from({ length: 4 }, (_, index) =>
    nameColour([stdout[3 * index] ?? 0, stdout[3 * index + 1] ?? 0, stdout[3 * index + 2] ?? 0]),
  );
}
