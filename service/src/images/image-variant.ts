// Chooses the variant of a picture that a viewer gets: one of a few sizes, never larger than the original, in the best format that the viewer accepts (contract B5).
import { IMAGE_FITS, IMAGE_FORMATS } from '@mediary/contract/enums';

/** `inside`: the whole picture within the box; `cover`: the box filled, the overhang cropped; `contain`: the whole picture, the rest of the box empty. */
export const FITS = IMAGE_FITS;
export const FORMATS = IMAGE_FORMATS;

export type Fit = (typeof FITS)[number];
/** GIF is the animated format of viewers that do not accept WebP. */
export type ImageFormat = (typeof FORMATS)[number] | 'gif';

/** A request; an omitted side follows from the other, an omitted format from the Accept header. */
export type VariantQuery = {
  readonly w?: number;
  readonly h?: number;
  readonly fit?: Fit;
  readonly format?: (typeof FORMATS)[number];
};

/** The original, with its orientation applied. */
export type Original = {
  readonly width: number;
  readonly height: number;
  readonly animated: boolean;
  readonly alpha: boolean;
};

/** A picture exactly as it is rendered. */
export type Variant = {
  readonly width: number;
  readonly height: number;
  readonly fit: Fit;
  readonly format: ImageFormat;
  readonly animated: boolean;
};

/** Limit of an omitted side: a comic strip is longer than any screen. */
const MAX_OMITTED_LENGTH = 5120;
/** Of a request that names neither side. */
const DEFAULT_LENGTH = 2560;
/** Keeps the slowest format within the deadline: AVIF takes 0.25 s of one core for each million pixels of noise. */
const MAX_PIXELS = 12_000_000;

export function chooseVariant(original: Original, query: VariantQuery, accept: string | undefined): Variant {
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

/** Equal names mean equal bytes, so each variant is stored once. */
export const variantName = ({ width, height, fit, format }: Variant): string =>
  `${width}x${height}${fit === 'inside' ? '' : `-${fit}`}.${EXTENSIONS[format]}`;

export const contentTypeOf = ({ format }: Pick<Variant, 'format'>): string => `image/${format}`;

const EXTENSIONS: Readonly<Record<ImageFormat, string>> = {
  avif: 'avif',
  webp: 'webp',
  jpeg: 'jpg',
  png: 'png',
  gif: 'gif',
};

const NAME = /^(\d{1,4})x(\d{1,4})(?:-(cover|contain))?\.(avif|webp|jpg|png|gif)$/;

/** The reverse of `variantName`; whether the variant is animated is not part of a name. */
export function parseVariantName(name: string): Omit<Variant, 'animated'> | undefined {
  const [, width, height, fit = 'inside', extension] = NAME.exec(name) ?? [];
  if (extension === undefined) return undefined;
  return {
    width: Number(width),
    height: Number(height),
    fit: fit as Fit,
    format: extension === 'jpg' ? 'jpeg' : (extension as ImageFormat),
  };
}

type Box = { readonly w: number; readonly h: number };

function boxOf(w: number, h: number): Box {
  if (!w && !h) return { w: DEFAULT_LENGTH, h: DEFAULT_LENGTH };
  return { w: w || MAX_OMITTED_LENGTH, h: h || MAX_OMITTED_LENGTH };
}

function fitInside({ width, height }: Original, { w, h }: Box): { width: number; height: number } {
  const scale = Math.min(1, w / width, h / height, Math.sqrt(MAX_PIXELS / (width * height)));
  return { width: pixels(width * scale), height: pixels(height * scale) };
}

/** A box that would enlarge the picture shrinks and keeps its shape. */
function fillBox(
  { width, height }: Original,
  { w, h, fit }: Box & { readonly fit: Fit },
): Pick<Variant, 'width' | 'height' | 'fit'> {
  const scale = (fit === 'cover' ? Math.max : Math.min)(w / width, h / height);
  const shrink = Math.max(1, scale, Math.sqrt((w * h) / MAX_PIXELS));
  return { width: pixels(w / shrink), height: pixels(h / shrink), fit };
}

const pixels = (length: number) => Math.max(1, Math.round(length));

function bestFormat({ animated, alpha }: Original, accept = ''): ImageFormat {
  if (!animated && accepts(accept, 'image/avif')) return 'avif';
  if (accepts(accept, 'image/webp')) return 'webp';
  if (animated) return 'gif';
  return alpha ? 'png' : 'jpeg';
}

/** Named types only: clients that send a wildcard often cannot decode AVIF or WebP. */
export function accepts(accept: string, type: string): boolean {
  return accept.split(',').some((range) => {
    const [name, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return name === type && !parameters.some((parameter) => /^q\s*=\s*0(?:\.0*)?$/.test(parameter));
  });
}
