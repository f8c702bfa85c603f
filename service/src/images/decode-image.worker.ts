// Opens an image by its detected format and resizes it into a box.
import sharp, { type Metadata, type Sharp, type SharpOptions } from 'sharp';
import { detectFileType, HEAD_BYTES } from '@mediary/media-rules/magic-bytes';
import { focalPart, type ImageEdits, rotatedSize } from './variants/image-edits.ts';
import { findExif } from './photo-facts.worker.ts';
import { findIccProfile, withIccProfile, decodeHeif } from './heif.worker.ts';

/** Width and height after applying the orientation; that of an animation is ignored. */
export type DecodedImage = {
  readonly format: string;
  readonly width: number;
  readonly height: number;
  readonly animated: boolean;
  /** True if only a still picture of an animation is decoded. */
  readonly isAnimationDropped: boolean;
  readonly frames: number;
  /** Opens the first frame, or all frames. */
  open(allFrames: boolean): Sharp;
  /** ICC profile that the decoder did not apply to the pixels. */
  readonly profile: Uint8Array | undefined;
  /** Only an examination reads it: in HEIF it has to be searched for. */
  findExif(): Uint8Array | undefined;
};

export type Box = {
  readonly width: number;
  readonly height: number;
  readonly fit: 'inside' | 'cover' | 'contain' | 'fill';
  /** `transparent`, or a colour of CSS. */
  readonly background: string;
  readonly rotate?: ImageEdits['rotate'];
  readonly gravity?: ImageEdits['gravity'];
};

export const openImage = (bytes: Buffer, maxPixels: number): Promise<DecodedImage> =>
  detectFileType(bytes) === 'heif' ? openHeif(bytes, maxPixels) : openWithSharp(bytes, maxPixels);

async function openWithSharp(bytes: Buffer, maxPixels: number): Promise<DecodedImage> {
  const isDropped = isAnimationDropped(bytes);
  markAsStill(bytes);
  const options: SharpOptions = { limitInputPixels: maxPixels, failOn: 'truncated' };
  const animation: SharpOptions = { ...options, animated: canBeAnimated(bytes) };
  const facts = await sharp(bytes, animation).metadata();
  const frames = facts.pages ?? 1;
  const animated = frames > 1;
  return {
    ...sizeOf(facts, animated),
    format: detectFileType(bytes),
    findExif: () => facts.exif,
    animated,
    isAnimationDropped: isDropped,
    frames,
    profile: undefined,
    open: (allFrames) => {
      if (!animated) return sharp(bytes, options).autoOrient();
      // sharp cannot rotate all frames, so a still of an animation ignores the orientation too.
      return sharp(bytes, allFrames ? animation : options);
    },
  };
}

/** The pages of other formats are separate images, not frames. */
const canBeAnimated = (bytes: Buffer): boolean => ['gif', 'webp'].includes(detectFileType(bytes));

function sizeOf(
  { width, height, pageHeight, autoOrient }: Metadata,
  animated: boolean,
): { width: number; height: number } {
  return animated ? { width, height: pageHeight ?? height } : autoOrient;
}

async function openHeif(bytes: Buffer, maxPixels: number): Promise<DecodedImage> {
  const { width, height, pixels } = await decodeHeif(bytes, maxPixels);
  return {
    width,
    height,
    animated: false,
    isAnimationDropped: false,
    frames: 1,
    profile: findIccProfile(bytes),
    format: 'heif',
    findExif: () => findExif(bytes),
    open: () => sharp(pixels, { raw: { width, height, channels: 4 } }),
  };
}

export async function resizeInto(
  image: DecodedImage,
  { background, rotate, gravity, ...box }: Box,
  allFrames = false,
): Promise<Sharp> {
  const opened = image.open(allFrames);
  if (rotate) opened.rotate(rotate);
  if (typeof gravity === 'object') opened.extract(focalPart(rotatedSize(image, rotate), box, gravity));
  const resized = opened.resize({
    ...box,
    ...(gravity === 'attention' && { position: 'attention' }),
    withoutEnlargement: true,
    background: background === 'transparent' ? TRANSPARENT : background,
  });
  if (!image.profile) return resized;
  return sharp(withIccProfile(await resized.png({ compressionLevel: 0 }).toBuffer(), image.profile));
}

const TRANSPARENT = { r: 0, g: 0, b: 0, alpha: 0 };

/** True for animations in a format whose still picture alone is decoded. */
function isAnimationDropped(bytes: Buffer): boolean {
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
function markAsStill(bytes: Buffer): void {
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
