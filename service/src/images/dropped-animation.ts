// Detects animations in formats of which the decoder reads only a still picture.
import { detectFileType } from '../media/magic-bytes.ts';

export const isAnimationDropped = (bytes: Buffer): boolean =>
  detectFileType(bytes) === 'png' && countFrames(bytes) > 1;

const FIRST_CHUNK = 8;

/** APNG: the number of frames is in the chunk `acTL`, which precedes the pixels. */
function countFrames(png: Buffer): number {
  for (let at = FIRST_CHUNK; at + 12 <= png.length; at += 12 + png.readUInt32BE(at)) {
    const type = png.toString('latin1', at + 4, at + 8);
    if (type === 'acTL') return png.readUInt32BE(at + 8);
    if (type === 'IDAT') break;
  }
  return 1;
}
