// A film whose frames tell their number by their brightness, and how to read it.
import type { ClipOptions } from './clips.ts';
import { brightness } from './picture-and-sound.ts';

const STEP = 4;
const CYCLE = 50;
const BLACK = 20;

/** Six seconds; the numbers start again after fifty frames. Key frames are at 0, 2.4 and 4.8 s. */
export const NUMBERED = {
  seconds: 6,
  fps: 25,
  width: 160,
  height: 90,
  more: ['-vf', `geq=lum='${BLACK}+${STEP}*mod(N,${CYCLE})':cb=128:cr=128`, '-g', '60', '-bf', '2'],
} as const satisfies ClipOptions;

/** Options of encoders that keep the brightness, by container. */
export const EXACT = {
  h264: ['-qp', '10'],
  vp8: ['-bf', '0', '-b:v', '4M', '-crf', '4', '-deadline', 'good'],
  mpeg4: ['-bf', '0', '-q:v', '2'],
} as const;

export const numbersIn = async (track: Parameters<typeof brightness>[0]): Promise<number[]> =>
  (await brightness(track)).map((luma) => Math.max(0, Math.round((luma - BLACK) / STEP)));
