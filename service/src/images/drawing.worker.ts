// Draws a decoded picture: upright, in sRGB, in the size and form that is wanted, and with none of its metadata.
import sharp, { type Sharp } from 'sharp';
import { rgbaToThumbHash } from 'thumbhash';
import type { Examined } from './image-processor.ts';
import type { ImageFormat, Variant } from './image-variant.ts';
import { type Box, fitted, openPicture, type Picture } from './picture.worker.ts';

const THUMBNAIL: Box = { width: 640, height: 640, fit: 'inside', background: 'transparent' };
const PLACEHOLDER = { width: 100, height: 100, fit: 'inside', withoutEnlargement: true } as const;

export async function examine(bytes: Buffer, maxPixels: number): Promise<Examined> {
  const picture = await openPicture(bytes, maxPixels);
  const { data, info } = await fitted(picture, THUMBNAIL).then((drawn) =>
    drawn.toColourspace('srgb').raw().toBuffer({ resolveWithObject: true }),
  );
  if (picture.animated) await decodeFrames(picture);
  const small = () =>
    sharp(data, { raw: { width: info.width, height: info.height, channels: info.channels } });
  const hash = await small()
    .resize(PLACEHOLDER)
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const placeholder = Buffer.from(rgbaToThumbHash(hash.info.width, hash.info.height, hash.data)).toString(
    'base64',
  );
  return {
    facts: {
      width: picture.width,
      height: picture.height,
      animated: picture.animated,
      alpha: isSeenThrough(data, info.channels),
      placeholder,
    },
    thumbnail: await ENCODERS.jpeg(small()).toBuffer(),
  };
}

export async function render(
  bytes: Buffer,
  { width, height, fit, format, animated }: Variant,
  maxPixels: number,
): Promise<Buffer> {
  const picture = await openPicture(bytes, maxPixels);
  // The size of `inside` is exact: computed again it might differ by a pixel from what its name says.
  const box: Box = {
    width,
    height,
    fit: fit === 'inside' ? 'fill' : fit,
    background: format === 'jpeg' ? 'white' : 'transparent',
  };
  return ENCODERS[format](await fitted(picture, box, animated)).toBuffer();
}

/** Of one or three channels none is alpha, of more the last. A callback for each of a million bytes would take longer than to encode them. */
function isSeenThrough(pixels: Buffer, channels: number): boolean {
  if (channels % 2 === 1) return false;
  for (let at = channels - 1; at < pixels.length; at += channels)
    if ((pixels[at] as number) < 255) return true;
  return false;
}

/** Small, for the frames are only looked at for faults. */
async function decodeFrames(picture: Picture): Promise<void> {
  await (await fitted(picture, { width: 8, height: 8, fit: 'fill', background: 'transparent' }, true))
    .raw()
    .toBuffer();
}

/** Made while somebody waits: the best size for the time, not the best of all. JPEG has no transparency: white lies below. */
const ENCODERS: Readonly<Record<ImageFormat, (picture: Sharp) => Sharp>> = {
  jpeg: (picture) => picture.flatten({ background: 'white' }).jpeg({ quality: 80, progressive: true }),
  webp: (picture) => picture.webp({ quality: 78, effort: 3 }),
  avif: (picture) => picture.avif({ quality: 50, effort: 2 }),
  png: (picture) => picture.png({ compressionLevel: 6 }),
  gif: (picture) => picture.gif({ effort: 3 }),
};
