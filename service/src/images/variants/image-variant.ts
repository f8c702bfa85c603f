// Chooses an image variant: supported size, never above the original's, best accepted format (contract B5).
import { IMAGE_FORMATS, SIGNED_IMAGE_FITS } from '@mediary/contract/enums';
import type { FocalPoint } from '@mediary/contract/schemas/common';
import {
  EDITS_PATTERN,
  type EditQuery,
  editsName,
  type ImageEdits,
  parseEdits,
  rotatedSize,
  toEdits,
} from './image-edits.ts';

/**
 * `inside`: the whole image within the box; `cover`: fills and crops; `contain`: whole, with margins; `fill`:
 * stretched.
 */
export const FITS = SIGNED_IMAGE_FITS;
export const FORMATS = IMAGE_FORMATS;

type Fit = (typeof FITS)[number];
/** GIF is the animated format for viewers that do not accept WebP. */
export type ImageFormat = (typeof FORMATS)[number] | 'gif';

/** An omitted side is derived from the other, an omitted format from the Accept header. */
export type VariantQuery = EditQuery & {
  readonly w?: number;
  readonly h?: number;
  readonly fit?: Fit;
  readonly format?: (typeof FORMATS)[number];
  /** Multiplies `w` and `h`. */
  readonly dpr?: number;
};

/** Width and height after applying the orientation. */
export type OriginalImage = {
  readonly width: number;
  readonly height: number;
  readonly animated: boolean;
  readonly alpha: boolean;
  /** That of the asset. */
  readonly focalPoint: FocalPoint | null;
};

/** The exact parameters of a rendered variant. */
export type Variant = {
  readonly width: number;
  readonly height: number;
  readonly fit: Fit;
  readonly format: ImageFormat;
  readonly animated: boolean;
  readonly edits?: ImageEdits;
  /** Rendered by a job, which takes more time for fewer bytes than a viewer waits for. */
  readonly isImproved?: true;
};

/** Limit of an omitted side, large enough for long images such as comic strips. */
const MAX_OMITTED_LENGTH = 5120;
/** Used when the request names neither side. */
const DEFAULT_LENGTH = 2560;
/** Keeps AVIF within the deadline: it takes 0.25 s of CPU time per megapixel of noise. */
const MAX_PIXELS = 12_000_000;

export function chooseVariant(
  original: OriginalImage,
  query: VariantQuery,
  accept: string | undefined,
): Variant {
  const format = query.format ?? bestFormat(original, accept);
  const { w = 0, h = 0, fit = 'inside', dpr = 1, rotate, blur } = query;
  // The decoder cannot rotate frames, and would blur them into each other.
  const isStill = rotate !== undefined || blur !== undefined;
  const animated = original.animated && !isStill && (format === 'webp' || format === 'gif');
  const seen = { ...original, ...rotatedSize(original, rotate) };
  const sized =
    w && h && fit !== 'inside'
      ? fillBox(seen, { w: w * dpr, h: h * dpr, fit })
      : { ...fitInside(seen, boxOf(w * dpr, h * dpr)), fit: 'inside' as const };
  const isLossy = format !== 'png' && format !== 'gif';
  const { focalPoint } = original;
  const edits = toEdits(query, { isCropped: sized.fit === 'cover', isLossy, animated, focalPoint });
  return { ...sized, format, animated, ...(Object.keys(edits).length > 0 && { edits }) };
}

/** Equal names imply equal bytes, so each variant is stored once. */
export function variantName({ width, height, fit, format, edits = {}, isImproved }: Variant): string {
  const shape = fit === 'inside' ? '' : `-${fit}`;
  const improved = isImproved ? IMPROVED : '';
  return `${width}x${height}${shape}${editsName(edits)}${improved}.${EXTENSIONS[format]}`;
}

const IMPROVED = '-improved';

/** AVIF of more pixels is rendered fast for the first viewer, and improved afterwards. */
export const MAX_PIXELS_OF_SLOW_AVIF = 2_000_000;

/** Undefined for variants that are rendered once. */
export const improvedVariant = (variant: Variant): Variant | undefined =>
  variant.format === 'avif' && variant.width * variant.height > MAX_PIXELS_OF_SLOW_AVIF && !variant.isImproved
    ? { ...variant, isImproved: true }
    : undefined;

export const variantContentType = ({ format }: Pick<Variant, 'format'>): string => `image/${format}`;

const EXTENSIONS: Readonly<Record<ImageFormat, string>> = {
  avif: 'avif',
  webp: 'webp',
  jpeg: 'jpg',
  png: 'png',
  gif: 'gif',
};

const NAME = new RegExp(
  `^(?<width>\\d{1,5})x(?<height>\\d{1,5})(?:-(?<fit>cover|contain|fill))?${EDITS_PATTERN}` +
    '(?<improved>-improved)?\\.(?<extension>avif|webp|jpg|png|gif)$',
);

/** The inverse of `variantName`, except for `animated`, which the name does not contain. */
export function parseVariantName(name: string): Omit<Variant, 'animated'> | undefined {
  const groups: Readonly<Record<string, string | undefined>> | undefined = NAME.exec(name)?.groups;
  if (!groups) return undefined;
  const { width, height, fit = 'inside', improved, extension } = groups;
  const edits = parseEdits(groups);
  return {
    width: Number(width),
    height: Number(height),
    fit: fit as Fit,
    format: extension === 'jpg' ? 'jpeg' : (extension as ImageFormat),
    ...(Object.keys(edits).length > 0 && { edits }),
    ...(improved && { isImproved: true }),
  };
}

type Sides = Pick<OriginalImage, 'width' | 'height'>;
type Box = { readonly w: number; readonly h: number };

function boxOf(w: number, h: number): Box {
  if (!w && !h) return { w: DEFAULT_LENGTH, h: DEFAULT_LENGTH };
  return { w: w || MAX_OMITTED_LENGTH, h: h || MAX_OMITTED_LENGTH };
}

function fitInside({ width, height }: Sides, { w, h }: Box): { width: number; height: number } {
  const scale = Math.min(1, w / width, h / height, Math.sqrt(MAX_PIXELS / (width * height)));
  return { width: pixels(width * scale), height: pixels(height * scale) };
}

/** Shrinks a box that would enlarge the image. All but `fill` keep the aspect ratio of the box. */
function fillBox(
  { width, height }: Sides,
  { w, h, fit }: Box & { readonly fit: Exclude<Fit, 'inside'> },
): Pick<Variant, 'width' | 'height' | 'fit'> {
  const box = fit === 'fill' ? { w: Math.min(w, width), h: Math.min(h, height) } : { w, h };
  const scale = (fit === 'cover' ? Math.max : Math.min)(box.w / width, box.h / height);
  const shrink = Math.max(1, scale, Math.sqrt((box.w * box.h) / MAX_PIXELS));
  return { width: pixels(box.w / shrink), height: pixels(box.h / shrink), fit };
}

const pixels = (length: number) => Math.max(1, Math.round(length));

function bestFormat(
  { animated, alpha }: Pick<OriginalImage, 'animated' | 'alpha'>,
  accept = '',
): ImageFormat {
  if (!animated && isAcceptedType(accept, 'image/avif')) return 'avif';
  if (isAcceptedType(accept, 'image/webp')) return 'webp';
  if (animated) return 'gif';
  return alpha ? 'png' : 'jpeg';
}

/** Ignores wildcards: clients that send them often cannot decode AVIF or WebP. */
export function isAcceptedType(accept: string, type: string): boolean {
  return accept.split(',').some((range) => {
    const [name, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return name === type && !parameters.some((parameter) => /^q\s*=\s*0(?:\.0*)?$/.test(parameter));
  });
}
