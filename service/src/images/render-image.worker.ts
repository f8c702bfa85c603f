// Renders an image with its orientation applied, in sRGB and without metadata.
import sharp, { type Sharp } from 'sharp';
import { rgbaToThumbHash } from 'thumbhash';
import type { ExaminedImage } from './image-processor.ts';
import { type ImageFormat, MAX_PIXELS_OF_SLOW_AVIF, type Variant } from './variants/image-variant.ts';
import { rotatedPoint } from './variants/image-edits.ts';
import { readPhotoFacts } from './photo-facts.worker.ts';
import { type Box, resizeInto, openImage, type DecodedImage } from './decode-image.worker.ts';

const THUMBNAIL: Box = { width: 640, height: 640, fit: 'inside', background: 'transparent' };
/** A ThumbHash has seven waves a side at most: more pixels take longer and look the same. */
const PLACEHOLDER = { width: 64, height: 64, fit: 'inside', withoutEnlargement: true } as const;

export async function examine(bytes: Buffer, maxPixels: number): Promise<ExaminedImage> {
  const image = await openImage(bytes, maxPixels);
  const { data, info } = await resizeInto(image, THUMBNAIL).then((drawn) =>
    drawn.toColourspace('srgb').raw().toBuffer({ resolveWithObject: true }),
  );
  if (image.animated) await decodeFrames(image);
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
      container: image.format,
      width: image.width,
      height: image.height,
      animated: image.animated,
      isAnimationDropped: image.isAnimationDropped,
      alpha: hasTransparency(data, info.channels),
      placeholder,
      photo: readPhotoFacts(image.findExif()),
    },
    thumbnail: await encode(small().flatten({ background: 'white' }), 'jpeg', {
      pixels: info.width * info.height,
    }).toBuffer(),
  };
}

export async function render(
  bytes: Buffer,
  { width, height, fit, format, animated, edits = {}, isImproved }: Variant,
  maxPixels: number,
): Promise<Buffer> {
  const image = await openImage(bytes, maxPixels);
  const { rotate, focalPoint, blur, quality } = edits;
  const gravity = edits.gravity ?? (focalPoint && rotatedPoint(focalPoint, rotate));
  const background = edits.background === undefined ? undefined : `#${edits.background}`;
  // The size of `inside` is already exact; recomputing it could differ by one pixel from the variant's name.
  const box: Box = {
    width,
    height,
    fit: fit === 'inside' ? 'fill' : fit,
    background: background ?? (format === 'jpeg' ? 'white' : 'transparent'),
    ...(rotate && { rotate }),
    ...(gravity && { gravity }),
  };
  const drawn = await resizeInto(image, box, animated);
  // JPEG has no transparency.
  if (background || format === 'jpeg') drawn.flatten({ background: box.background });
  if (blur) drawn.blur(blur);
  const pixels = width * height * (animated ? image.frames : 1);
  return encode(drawn, format, { pixels, isImproved, quality }).toBuffer();
}

/** The last channel is alpha if the number of channels is even. A callback per byte would be too slow. */
function hasTransparency(pixels: Buffer, channels: number): boolean {
  if (channels % 2 === 1) return false;
  for (let at = channels - 1; at < pixels.length; at += channels)
    if ((pixels[at] as number) < 255) return true;
  return false;
}

/** Decodes at a small size, because the frames are only checked for errors. */
async function decodeFrames(image: DecodedImage): Promise<void> {
  await (await resizeInto(image, { width: 8, height: 8, fit: 'fill', background: 'transparent' }, true))
    .raw()
    .toBuffer();
}

/** A viewer waits: 1 megapixel of noise takes 1.0 s of CPU at AVIF effort 2, 0.6 s at 1 and 0.25 s at 0. */
const AVIF_EFFORTS = [
  { maxPixels: 1_000_000, effort: 2 },
  { maxPixels: MAX_PIXELS_OF_SLOW_AVIF, effort: 1 },
] as const;
/** Saves a fifth of effort 0 for 2 s of CPU per 4 megapixels of a photo; effort 4 a quarter for 10 s. */
const IMPROVED_AVIF_EFFORT = 3;
const MAX_PIXELS_OF_WEBP_EFFORT_3 = 4_000_000;

type EncodeOptions = {
  readonly pixels: number;
  readonly isImproved?: true | undefined;
  readonly quality?: number | undefined;
};

function encode(image: Sharp, format: ImageFormat, { pixels, isImproved, quality }: EncodeOptions): Sharp {
  switch (format) {
    case 'jpeg':
      return image.jpeg({ quality: quality ?? 80, progressive: true });
    case 'webp':
      return image.webp({ quality: quality ?? 78, effort: pixels > MAX_PIXELS_OF_WEBP_EFFORT_3 ? 1 : 3 });
    case 'avif':
      return image.avif({
        quality: quality ?? 50,
        effort: isImproved ? IMPROVED_AVIF_EFFORT : avifEffort(pixels),
      });
    case 'png':
      return image.png({ compressionLevel: 6 });
    case 'gif':
      return image.gif({ effort: 3 });
  }
}

const avifEffort = (pixels: number): number =>
  AVIF_EFFORTS.find(({ maxPixels }) => pixels <= maxPixels)?.effort ?? 0;
