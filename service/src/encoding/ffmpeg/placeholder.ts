// Creates the placeholder of a video from its thumbnail: a ThumbHash of its scaled pixels.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rgbaToThumbHash } from 'thumbhash';
import { OWN_FILE_INPUT } from '../plan/source/ffmpeg-input.ts';
import type { Size } from '../model/source.ts';
import { type Session, runStep } from './ffmpeg-session.ts';

/** The most that ThumbHash accepts. */
const MAX_SIDE = 100;
const BYTES_PER_PIXEL = 4;

/** Undefined when ffmpeg cannot create it: the video is complete without. `size`: that of the video. */
export async function createPlaceholder(
  session: Pick<Session, 'ffmpegPath' | 'sandbox' | 'memoryBytes' | 'folder' | 'request'>,
  thumbnail: string,
  size: Size,
): Promise<string | undefined> {
  const { width, height } = fitInside(size);
  const pixels = join(session.folder, 'placeholder.rgba');
  const { code } = await runStep(session, { args: pixelArguments(thumbnail, { width, height }, pixels) });
  if (code !== 0) return undefined;
  const rgba = await readFile(pixels);
  if (rgba.length !== width * height * BYTES_PER_PIXEL) return undefined;
  return Buffer.from(rgbaToThumbHash(width, height, rgba)).toString('base64');
}

function fitInside({ width, height }: Size): Size {
  const scale = Math.min(1, MAX_SIDE / Math.max(width, height));
  const shrink = (side: number) => Math.max(1, Math.round(side * scale));
  return { width: shrink(width), height: shrink(height) };
}

const pixelArguments = (jpeg: string, { width, height }: Size, output: string): string[] => [
  ...OWN_FILE_INPUT,
  '-f',
  'jpeg_pipe',
  '-i',
  `file:${jpeg}`,
  '-vf',
  `scale=${width}:${height}:flags=area,format=rgba`,
  '-frames:v',
  '1',
  '-c:v',
  'rawvideo',
  '-f',
  'rawvideo',
  `file:${output}`,
];
