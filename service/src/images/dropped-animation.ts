// Detects animations in formats of which the decoder reads only a still picture.
import { detectFileType, HEAD_BYTES } from '../media/magic-bytes.ts';

export function isAnimationDropped(bytes: Buffer): boolean {
  const type = detectFileType(bytes);
  return (
    (type === 'png' && countFrames(bytes) > 1) || (type === 'avif' && brandsOf(bytes).includes(SEQUENCE))
  );
}

/** Brand of AVIF files with a sequence of images. */
const SEQUENCE = 'avis';
const STILL = 'avif';
const MAJOR_BRAND = 8;

const brandsOf = (avif: Buffer): readonly string[] =>
  avif.toString('latin1', MAJOR_BRAND, Math.min(avif.readUInt32BE(0), HEAD_BYTES)).match(/.{4}/gs) ?? [];

/** libvips refuses the brand of sequences, though such a file has a still picture too. Changes the bytes. */
export function markAsStill(bytes: Buffer): void {
  if (detectFileType(bytes) === 'avif' && brandsOf(bytes)[0] === SEQUENCE)
    bytes.write(STILL, MAJOR_BRAND, 'latin1');
}

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
