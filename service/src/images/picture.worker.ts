// Opens the bytes of a picture by what they are, and fits it into a box.
import sharp, { type Metadata, type Sharp, type SharpOptions } from 'sharp';
import { detect } from '../media/magic-bytes.ts';
import { iccProfileOf, withIccProfile } from './colour-profile.ts';
import { decodeHeif } from './heif.worker.ts';

/** As shown: orientation applied. */
export type Picture = {
  readonly width: number;
  readonly height: number;
  readonly animated: boolean;
  readonly frames: number;
  /** One frame upright, or all frames as they are. */
  open(allFrames: boolean): Sharp;
  /** Colours of pixels that could not be given their profile when they were decoded. */
  readonly profile: Uint8Array | undefined;
};

export type Box = {
  readonly width: number;
  readonly height: number;
  readonly fit: 'inside' | 'cover' | 'contain' | 'fill';
  readonly background: 'white' | 'transparent';
};

export const openPicture = (bytes: Buffer, maxPixels: number): Promise<Picture> =>
  detect(bytes) === 'heif' ? openHeif(bytes, maxPixels) : openWithSharp(bytes, maxPixels);

async function openWithSharp(bytes: Buffer, maxPixels: number): Promise<Picture> {
  const options: SharpOptions = { limitInputPixels: maxPixels, failOn: 'truncated' };
  const moving: SharpOptions = { ...options, animated: canMove(bytes) };
  const facts = await sharp(bytes, moving).metadata();
  const frames = facts.pages ?? 1;
  const animated = frames > 1;
  return {
    ...sizeOf(facts, animated),
    animated,
    frames,
    profile: undefined,
    open: (allFrames) => (allFrames && animated ? sharp(bytes, moving) : sharp(bytes, options).autoOrient()),
  };
}

/** Pages of other formats are other pictures, not frames. */
const canMove = (bytes: Buffer): boolean => ['gif', 'webp'].includes(detect(bytes));

function sizeOf(
  { width, height, pageHeight, autoOrient }: Metadata,
  animated: boolean,
): { width: number; height: number } {
  return animated ? { width, height: pageHeight ?? height } : autoOrient;
}

async function openHeif(bytes: Buffer, maxPixels: number): Promise<Picture> {
  const { width, height, pixels } = await decodeHeif(bytes, maxPixels);
  return {
    width,
    height,
    animated: false,
    frames: 1,
    profile: iccProfileOf(bytes),
    open: () => sharp(pixels, { raw: { width, height, channels: 4 } }),
  };
}

export async function fitted(
  picture: Picture,
  { background, ...box }: Box,
  allFrames = false,
): Promise<Sharp> {
  const drawn = picture
    .open(allFrames)
    .resize({ ...box, withoutEnlargement: true, background: background === 'white' ? 'white' : CLEAR });
  if (!picture.profile) return drawn;
  return sharp(withIccProfile(await drawn.png({ compressionLevel: 0 }).toBuffer(), picture.profile));
}

const CLEAR = { r: 0, g: 0, b: 0, alpha: 0 };
