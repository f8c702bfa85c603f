// Options of `open` that ask for an image in another size, or edited: the command signs its URL.
import { type ImageEdit, signImageUrl } from '@mediary/client/server';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseBetween, parseCount, parsePoint } from '../../arguments.ts';
import type { Client } from '../../client.ts';

/** `imageFormat`: `--format` chooses between the URLs of an asset. */
export type ImageFlags = Omit<ImageEdit, 'format'> & { readonly imageFormat?: ImageEdit['format'] };

const FITS = ['inside', 'cover', 'contain', 'fill'] satisfies ImageEdit['fit'][];
const FORMATS = ['avif', 'webp', 'jpeg', 'png'] satisfies ImageEdit['format'][];

export const addImageOptions = (command: Command): Command =>
  command
    .option(
      '--width <pixels>',
      'of images: largest width; needs the service key, as do those below',
      parseCount,
    )
    .option('--height <pixels>', 'largest height', parseCount)
    .addOption(new Option('--fit <fit>', 'how the image fills width and height').choices(FITS))
    .option(
      '--gravity <part>',
      'what cover keeps: center, attention or a point such as 0.3,0.6; default: the focal point',
      parseGravity,
    )
    .addOption(new Option('--image-format <format>', 'default: the best for the viewer').choices(FORMATS))
    .option('--quality <number>', 'of AVIF, WebP and JPEG, 1 to 100', parseBetween(1, 100))
    .option('--blur <pixels>', 'standard deviation of a blur, 0.3 to 100', parseBetween(0.3, 100))
    .option('--background <colour>', 'of margins and behind transparent pixels, as RRGGBB', parseColour)
    .option('--rotate <degrees>', 'clockwise: 90, 180 or 270', parseRotation)
    .option('--dpr <number>', 'multiplies width and height, 1 to 4', parseDpr);

/** Undefined if no option asks for another picture. */
export function toImageEdit({ imageFormat: format, ...flags }: ImageFlags): ImageEdit | undefined {
  const { width, height, fit, gravity, quality, blur, background, rotate, dpr } = flags;
  const edit = { width, height, fit, gravity, format, quality, blur, background, rotate, dpr };
  return Object.values(edit).some((value) => value !== undefined) ? edit : undefined;
}

/** Fetches the signing key, which needs the service key. */
export async function signEdit(
  { mediary, options: { signal } }: Client,
  url: string,
  edit: ImageEdit,
): Promise<string> {
  const { key } = await mediary.images.getSigningKey({ signal });
  return signImageUrl(url, edit, key);
}

function parseGravity(text: string): NonNullable<ImageEdit['gravity']> {
  return text === 'center' || text === 'attention' ? text : parsePoint(text);
}

function parseColour(text: string): string {
  if (!/^#?[0-9a-fA-F]{6}$/.test(text)) throw new InvalidArgumentError('Expected RRGGBB such as ffffff.');
  return text;
}

function parseRotation(text: string): NonNullable<ImageEdit['rotate']> {
  const found = ([90, 180, 270] as const).find((degrees) => String(degrees) === text);
  if (found === undefined) throw new InvalidArgumentError('Expected 90, 180 or 270.');
  return found;
}

function parseDpr(text: string): number {
  if (!/^[1-4]$/.test(text)) throw new InvalidArgumentError('Expected 1, 2, 3 or 4.');
  return Number(text);
}
