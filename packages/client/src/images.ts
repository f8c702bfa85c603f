// @mediary/client/images: URLs of an image in other sizes, also for the image components of frameworks.
import { IMAGE_CROPS, IMAGE_FORMATS, IMAGE_WIDTHS, type IMAGE_FITS } from '@mediary/contract/enums';
import { type OfferedSize, roundSize } from '@mediary/media-rules/image-size';
import { SIGNED_ONLY_PARAMETERS } from '@mediary/media-rules/image-signature';
import { setParameters, splitImageUrl } from './image-url.ts';

/**
 * Widths and heights that the service offers, in pixels. Pass them to a framework that asks for its sizes:
 * others become the next larger one.
 */
export const imageWidths: readonly number[] = IMAGE_WIDTHS;

const MAX_WIDTH = imageWidths.at(-1) as number;

export type ImageSize = {
  /** Largest width in pixels, at most 3840. An image is never enlarged. */
  width?: number | undefined;
  /** Largest height in pixels, at most 3840. */
  height?: number | undefined;
  /** `inside` (default) fits into the box; `cover` fills it and crops; `contain` fits and pads. */
  fit?: (typeof IMAGE_FITS)[number] | undefined;
  /** Default: the best that the viewer accepts. */
  format?: (typeof IMAGE_FORMATS)[number] | undefined;
};

/**
 * The URL of an image, or of a poster, in another size. Replaces a size, a preset or signed edits that the
 * URL has already.
 *
 * @param src `image` of `media.playback`, or a URL of another size.
 * @throws RangeError for a size that the service does not offer: larger than 3840 pixels, or a crop that is
 *   neither square nor 1200 × 630.
 * @example const url = sizedImageUrl(image, { width: 640, format: 'webp' });
 */
export function sizedImageUrl(src: string, { width, height, fit, format }: ImageSize): string {
  const { w, h } = offeredSize({ width, height, fit });
  const { path, parameters } = splitImageUrl(src);
  for (const name of REPLACED) parameters.delete(name);
  setParameters(parameters, { w, h, fit, format });
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}

/** A signature is that of the other size. */
const REPLACED = ['w', 'h', 'fit', 'preset', 's', ...SIGNED_ONLY_PARAMETERS];

/** The service redirects to the next larger size: the URL that names it saves this request. */
function offeredSize({ width: w, height: h, fit = 'inside' }: Omit<ImageSize, 'format'>): OfferedSize {
  for (const [side, length] of Object.entries({ width: w, height: h }))
    if (length !== undefined && !(length > 0 && length <= MAX_WIDTH))
      throw new RangeError(`${side} must be more than 0 and at most ${MAX_WIDTH}: ${length}`);
  const isBox = w !== undefined && h !== undefined;
  const size = roundSize({ ...(w !== undefined && { w }), ...(h !== undefined && { h }), fit });
  if ('reason' in size || (fit !== 'inside' && !isBox))
    throw new RangeError(`fit=${fit} needs equal width and height, or ${IMAGE_CROPS[1]}: ${w}x${h}`);
  return size;
}

/** As wide as a component asks for, or as the service offers. */
const limitWidth = (width: number | undefined): number | undefined =>
  width === undefined ? undefined : Math.min(width, MAX_WIDTH);

/**
 * `loader` of `next/image`. The service chooses the quality.
 *
 * @example <Image loader={nextImageLoader} src={image} width={640} height={360} alt="" />
 */
export const nextImageLoader = ({ src, width }: { src: string; width: number }): string =>
  sizedImageUrl(src, { width: limitWidth(width) });

/** What Unpic and Nuxt Image ask for, besides what this service ignores. */
export type ImageOperations = { width?: number | string | undefined; format?: string | undefined };

/** The height is left to the page: the picture keeps its shape, and the component crops it by CSS. */
const operatedImageUrl = (src: string, { width, format }: ImageOperations): string =>
  sizedImageUrl(src, {
    width: limitWidth(width === undefined ? undefined : Number(width)),
    format: IMAGE_FORMATS.find((each) => each === (format === 'jpg' ? 'jpeg' : format)),
  });

/** `transformer` of the base components of Unpic (`@unpic/react/base` and others). */
export const unpicTransformer = (src: string | URL, operations: ImageOperations): string =>
  operatedImageUrl(String(src), operations);

/**
 * A provider of Nuxt Image (`@nuxt/image` 2).
 *
 * @example export { nuxtImageProvider as default } from '@mediary/client/images'; // providers/mediary.ts
 */
export const nuxtImageProvider = () => ({
  getImage: (src: string, { modifiers = {} }: { modifiers?: ImageOperations } = {}) => ({
    url: operatedImageUrl(src, modifiers),
  }),
});
