// Chooses the substitute for a variant that cannot be rendered in time or stored.
import { isSamePicture } from './image-edits.ts';
import { isAcceptedType, type OriginalImage, parseVariantName, type Variant } from './image-variant.ts';

const SMALL_ANIMATION = 320;

/** Returns a variant that is faster to render; undefined if there is none. */
export function cheaperVariant(
  variant: Variant,
  { alpha }: Pick<OriginalImage, 'alpha'>,
  accept = '',
): Variant | undefined {
  if (variant.format === 'avif')
    return { ...variant, format: isAcceptedType(accept, 'image/webp') ? 'webp' : alpha ? 'png' : 'jpeg' };
  const scale = SMALL_ANIMATION / Math.max(variant.width, variant.height);
  if (!variant.animated || scale >= 1) return undefined;
  const scaled = (length: number) => Math.max(1, Math.round(length * scale));
  return { ...variant, width: scaled(variant.width), height: scaled(variant.height) };
}

/** Rounding to whole pixels changes the aspect ratio of small variants slightly. */
const SHAPE_TOLERANCE = 0.05;

/** Finds the stored variant with the same aspect ratio: the next larger one, otherwise the largest. */
export function closestVariant(
  names: readonly string[],
  wanted: Variant,
  accept = '',
): { readonly name: string; readonly format: Variant['format'] } | undefined {
  const isReadable = (format: Variant['format']) =>
    format === wanted.format ||
    format === 'jpeg' ||
    format === 'png' ||
    isAcceptedType(accept, `image/${format}`);
  const shape = Math.log(wanted.width / wanted.height);
  const candidates = names
    .flatMap((name) => {
      const stored = parseVariantName(name);
      return stored ? [{ ...stored, name }] : [];
    })
    .filter(
      ({ width, height, fit, format, edits = {} }) =>
        fit === wanted.fit &&
        isSamePicture(edits, wanted.edits ?? {}) &&
        isReadable(format) &&
        Math.abs(Math.log(width / height) - shape) < SHAPE_TOLERANCE,
    )
    .toSorted((a, b) => a.width - b.width);
  return candidates.find(({ width }) => width >= wanted.width) ?? candidates.at(-1);
}
