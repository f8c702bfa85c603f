// Which picture a viewer is sent: one of a few sizes, never larger than the original, in the best form that the viewer reads (contract B5).

/** The lengths that may be asked for: each picture of each asset is made and kept once, so their number has to be small. */
export const SIZES = [64, 128, 256, 320, 480, 640, 960, 1280, 1600, 1920, 2560] as const;
/** `inside`: all of it within the box; `cover`: the box filled, what stands out cut off; `contain`: all of it, the rest of the box empty. */
export const FITS = ['inside', 'cover', 'contain'] as const;
export const FORMATS = ['avif', 'webp', 'jpeg', 'png'] as const;

export type Fit = (typeof FITS)[number];
/** GIF is only for viewers who would see nothing move otherwise. */
export type ImageFormat = (typeof FORMATS)[number] | 'gif';

/** What was asked for; a side that is not named follows from the other, a form that is not named from what the viewer reads. */
export type Wish = {
  readonly w?: number;
  readonly h?: number;
  readonly fit?: Fit;
  readonly format?: (typeof FORMATS)[number];
};

/** The original, as it is shown. */
export type Original = {
  readonly width: number;
  readonly height: number;
  readonly animated: boolean;
  readonly alpha: boolean;
};

/** A picture exactly as it is made. */
export type Variant = {
  readonly width: number;
  readonly height: number;
  readonly fit: Fit;
  readonly format: ImageFormat;
  readonly animated: boolean;
};

/** A side that nobody named may be this long: a strip of comics is longer than any screen. */
const LONGEST_UNNAMED = 5120;
const LARGEST = SIZES.at(-1) as number;

export function chooseVariant(original: Original, wish: Wish, accept: string | undefined): Variant {
  const format = wish.format ?? bestFormat(original, accept);
  const animated = original.animated && (format === 'webp' || format === 'gif');
  const { w = 0, h = 0, fit = 'inside' } = wish;
  return {
    ...(w && h && fit !== 'inside'
      ? boxed(original, { w, h, fit })
      : { ...inside(original, boxOf(w, h)), fit: 'inside' }),
    format,
    animated,
  };
}

/** Names tell all that makes a difference, so that what looks the same is kept once. */
export const nameOf = ({ width, height, fit, format }: Variant): string =>
  `${width}x${height}${fit === 'inside' ? '' : `-${fit}`}.${EXTENSIONS[format]}`;

export const typeOf = ({ format }: Variant): string => `image/${format}`;

const EXTENSIONS: Readonly<Record<ImageFormat, string>> = {
  avif: 'avif',
  webp: 'webp',
  jpeg: 'jpg',
  png: 'png',
  gif: 'gif',
};

type Box = { readonly w: number; readonly h: number };

function boxOf(w: number, h: number): Box {
  if (!w && !h) return { w: LARGEST, h: LARGEST };
  return { w: w || LONGEST_UNNAMED, h: h || LONGEST_UNNAMED };
}

function inside({ width, height }: Original, { w, h }: Box): { width: number; height: number } {
  const scale = Math.min(1, w / width, h / height);
  return { width: pixels(width * scale), height: pixels(height * scale) };
}

/** A box that would enlarge the picture shrinks, and keeps its shape. */
function boxed(
  { width, height }: Original,
  { w, h, fit }: Box & { readonly fit: Fit },
): Pick<Variant, 'width' | 'height' | 'fit'> {
  const scale = (fit === 'cover' ? Math.max : Math.min)(w / width, h / height);
  const shrink = Math.max(1, scale);
  return { width: pixels(w / shrink), height: pixels(h / shrink), fit };
}

const pixels = (length: number) => Math.max(1, Math.round(length));

/** A viewer who does not say that it reads AVIF or WebP gets what every viewer reads. */
function bestFormat({ animated, alpha }: Original, accept = ''): ImageFormat {
  if (!animated && accepts(accept, 'image/avif')) return 'avif';
  if (accepts(accept, 'image/webp')) return 'webp';
  if (animated) return 'gif';
  return alpha ? 'png' : 'jpeg';
}

/** Named, not covered by a wildcard: those who accept everything do not read everything. */
function accepts(accept: string, type: string): boolean {
  return accept.split(',').some((range) => {
    const [name, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return name === type && !parameters.some((parameter) => /^q\s*=\s*0(?:\.0*)?$/.test(parameter));
  });
}
