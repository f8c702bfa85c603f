// Chooses an image variant: supported size, never above the original's, best accepted format (contract B5).
import { IMAGE_FITS, IMAGE_FORMATS } from '@mediary/contract/enums';

/** `inside`: the whole image within the box; `cover`: fills and crops; `contain`: whole, with margins. */
export const FITS = IMAGE_FITS;
export const FORMATS = IMAGE_FORMATS;

type Fit = (typeof FITS)[number];
/** GIF is the animated format for viewers that do not accept WebP. */
export type ImageFormat = (typeof FORMATS)[number] | 'gif';

/** An omitted side is derived from the other, an omitted format from the Accept header. */
export type VariantQuery = {
  readonly w?: number;
  readonly h?: number;
  readonly fit?: Fit;
  readonly format?: (typeof FORMATS)[number];
};

/** Width and height after applying the orientation. */
export type OriginalImage = {
  readonly width: number;
  readonly height: number;
  readonly animated: boolean;
  readonly alpha: boolean;
};

/** The exact parameters of a rendered variant. */
export type Variant = {
  readonly width: number;
  readonly height: number;
  readonly fit: Fit;
  readonly format: ImageFormat;
  readonly animated: boolean;
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
  const animated = original.animated && (format === 'webp' || format === 'gif');
  const { w = 0, h = 0, fit = 'inside' } = query;
  return {
    ...(w && h && fit !== 'inside'
      ? fillBox(original, { w, h, fit })
      : { ...fitInside(original, boxOf(w, h)), fit: 'inside' }),
    format,
    animated,
  };
}

/** Equal names imply equal bytes, so each variant is stored once. */
export const variantName = ({ width, height, fit, format, isImproved }: Variant): string =>
  `${width}x${height}${fit === 'inside' ? '' : `-${fit}`}${isImproved ? IMPROVED : ''}.${EXTENSIONS[format]}`;

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

const NAME = /^(\d{1,4})x(\d{1,4})(?:-(cover|contain))?(-improved)?\.(avif|webp|jpg|png|gif)$/;

/** The inverse of `variantName`, except for `animated`, which the name does not contain. */
export function parseVariantName(name: string): Omit<Variant, 'animated'> | undefined {
  const [, width, height, fit = 'inside', improved, extension] = NAME.exec(name) ?? [];
  if (extension === undefined) return undefined;
  return {
    width: Number(width),
    height: Number(height),
    fit: fit as Fit,
    format: extension === 'jpg' ? 'jpeg' : (extension as ImageFormat),
    ...(improved && { isImproved: true }),
  };
}

type Box = { readonly w: number; readonly h: number };

function boxOf(w: number, h: number): Box {
  if (!w && !h) return { w: DEFAULT_LENGTH, h: DEFAULT_LENGTH };
  return { w: w || MAX_OMITTED_LENGTH, h: h || MAX_OMITTED_LENGTH };
}

function fitInside({ width, height }: OriginalImage, { w, h }: Box): { width: number; height: number } {
  const scale = Math.min(1, w / width, h / height, Math.sqrt(MAX_PIXELS / (width * height)));
  return { width: pixels(width * scale), height: pixels(height * scale) };
}

/** Shrinks a box that would enlarge the image, and keeps its aspect ratio. */
function fillBox(
  { width, height }: OriginalImage,
  { w, h, fit }: Box & { readonly fit: Fit },
): Pick<Variant, 'width' | 'height' | 'fit'> {
  const scale = (fit === 'cover' ? Math.max : Math.min)(w / width, h / height);
  const shrink = Math.max(1, scale, Math.sqrt((w * h) / MAX_PIXELS));
  return { width: pixels(w / shrink), height: pixels(h / shrink), fit };
}

const pixels = (length: number) => Math.max(1, Math.round(length));

function bestFormat({ animated, alpha }: OriginalImage, accept = ''): ImageFormat {
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
