// Paints upright stripes of known colours, and reads the colours of an encoded video back.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ffmpegPath } from './clips.ts';

/** Codes of Y, Cb and Cr. */
type Pixel = readonly [number, number, number];

/** Parts of 1 of red, green and blue, gamma included. */
export type Colour = readonly [number, number, number];

/** Weights of red and blue in the luma of a matrix. */
type Matrix = readonly [number, number];
export const MATRICES = {
  bt709: [0.2126, 0.0722],
  smpte170m: [0.299, 0.114],
  bt2020nc: [0.2627, 0.0593],
} as const satisfies Record<string, Matrix>;

type Coding = { readonly matrix: Matrix; readonly bits: 8 | 10; readonly fullRange?: boolean };

/** Codes of Y, Cb and Cr of each stripe. */
export const codesOf = (colours: readonly Colour[], coding: Coding): readonly Pixel[] =>
  colours.map((colour) => toPixel(colour, coding));

/** Video filters that replace the picture by stripes of these colours, from left to right. */
export function paintStripes(colours: readonly Colour[], coding: Coding): string {
  const pixels = codesOf(colours, coding);
  const plane = (component: 0 | 1 | 2) =>
    pixels.map((pixel, index) => `eq(floor(X*${pixels.length}/W),${index})*${pixel[component]}`).join('+');
  const format = coding.bits === 10 ? 'yuv420p10le' : 'yuv420p';
  return `format=${format},geq=lum='${plane(0)}':cb='${plane(1)}':cr='${plane(2)}'`;
}

function toPixel([red, green, blue]: Colour, { matrix: [kr, kb], bits, fullRange = false }: Coding): Pixel {
  const scale = 2 ** (bits - 8);
  const luma = kr * red + (1 - kr - kb) * green + kb * blue;
  const [black, lumaRange, chromaRange] = fullRange ? [0, 255, 255] : [16, 219, 224];
  const chroma = (part: number, weight: number) =>
    Math.round(scale * (128 + (chromaRange * (part - luma)) / (2 * (1 - weight))));
  return [Math.round(scale * (black + lumaRange * luma)), chroma(blue, kb), chroma(red, kr)];
}

/** Width and height of the frame that is decoded; a stripe's colour is read in the middle of it. */
const SIDE = 64;

/** The Y code and the colour of each stripe in the first frame of a BT.709 video in limited range. */
export async function readStripes(
  url: string,
  count: number,
): Promise<readonly { readonly luma: number; readonly colour: Colour }[]> {
  const codes = await readCodes(url, { count, bits: 8 });
  return codes.map((pixel) => ({ luma: pixel[0], colour: toColour(pixel, MATRICES.bt709) }));
}

/** The codes of each stripe in the first frame. */
export async function readCodes(
  url: string,
  { count, bits }: { readonly count: number; readonly bits: 8 | 10 },
): Promise<readonly Pixel[]> {
  const format = bits === 10 ? 'yuv444p10le' : 'yuv444p';
  const { stdout } = await promisify(execFile)(
    ffmpegPath(),
    [
      ...['-nostdin', '-hide_banner', '-loglevel', 'error', '-i', url, '-map', '0:v:0', '-frames:v', '1'],
      ...['-vf', `scale=${count * SIDE}:${SIDE}:flags=neighbor,format=${format}`],
      ...['-f', 'rawvideo', '-'],
    ],
    { encoding: 'buffer' },
  );
  const plane = count * SIDE * SIDE;
  return Array.from({ length: count }, (_, index) => {
    const middle = (SIDE / 2) * count * SIDE + index * SIDE + SIDE / 2;
    const codeAt = (component: number) => {
      const at = component * plane + middle;
      return bits === 10 ? stdout.readUInt16LE(2 * at) : (stdout[at] ?? 0);
    };
    return [codeAt(0), codeAt(1), codeAt(2)];
  });
}

/** Of a pixel in limited range, in codes of 8 bits. */
export function toColour([luma, cb, cr]: Pixel, [kr, kb]: Matrix): Colour {
  const y = ((luma - 16) * 255) / 219;
  const red = y + (2 * (1 - kr) * (cr - 128) * 255) / 224;
  const blue = y + (2 * (1 - kb) * (cb - 128) * 255) / 224;
  const green = (y - kr * red - kb * blue) / (1 - kr - kb);
  return [toByte(red), toByte(green), toByte(blue)];
}

const toByte = (part: number): number => Math.round(Math.min(255, Math.max(0, part)));
