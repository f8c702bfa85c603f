// What a variant changes besides its size, as members of the variant and as a part of its name.

/** Parts of the width and height of the rotated image, from the top left. */
type FocalPoint = { readonly x: number; readonly y: number };

export type ImageEdits = {
  /** What `cover` keeps; undefined: the center. */
  readonly gravity?: 'attention' | FocalPoint;
  /** 1–100; undefined: that of the format. */
  readonly quality?: number;
  /** Standard deviation in pixels of the variant, rounded to tenths. */
  readonly blur?: number;
  /** RRGGBB in lower case. */
  readonly background?: string;
  /** Clockwise, in degrees. */
  readonly rotate?: 90 | 180 | 270;
};

/** Parameters of a request that are edits. */
export type EditQuery = {
  readonly gravity?: string;
  readonly quality?: number;
  readonly blur?: number;
  readonly background?: string;
  readonly rotate?: number;
};

type EditedVariant = { readonly isCropped: boolean; readonly isLossy: boolean; readonly animated: boolean };

/** Leaves out what would change nothing, so that equal bytes have equal names. */
export function toEdits(
  { gravity = 'center', quality, blur, background, rotate }: EditQuery,
  { isCropped, isLossy, animated }: EditedVariant,
): ImageEdits {
  const [x, y] = gravity.split(',').map(Number);
  const point = x !== undefined && y !== undefined && !(x === 0.5 && y === 0.5) ? { x, y } : undefined;
  // The decoder weighs still pictures only.
  const kept = gravity === 'attention' && !animated ? gravity : point;
  return {
    ...(isCropped && kept !== undefined && { gravity: kept }),
    ...(isLossy && quality !== undefined && { quality }),
    ...(blur !== undefined && { blur: Math.round(10 * blur) / 10 }),
    ...(background !== undefined && { background: background.toLowerCase() }),
    ...(rotate !== undefined && { rotate: rotate as 90 | 180 | 270 }),
  };
}

/** The part of a variant's name: empty without edits. */
export function editsName({ gravity, quality, blur, background, rotate }: ImageEdits): string {
  const parts = [
    gravity === 'attention' ? gravity : gravity && `at${thousandths(gravity.x)}x${thousandths(gravity.y)}`,
    quality && `q${quality}`,
    blur && `b${Math.round(10 * blur)}`,
    background && `c${background}`,
    rotate && `r${rotate}`,
  ];
  return parts.flatMap((part) => (part ? [`-${part}`] : [])).join('');
}

const thousandths = (part: number): number => Math.round(1000 * part);

/** Of a regular expression: matches what `editsName` writes. */
export const EDITS_PATTERN =
  '(?:-(?<attention>attention)|-at(?<x>\\d{1,4})x(?<y>\\d{1,4}))?' +
  '(?:-q(?<quality>\\d{1,3}))?(?:-b(?<blur>\\d{1,4}))?(?:-c(?<background>[0-9a-f]{6}))?' +
  '(?:-r(?<rotate>90|180|270))?';

/** Reads the groups of EDITS_PATTERN. */
export function parseEdits(groups: Readonly<Record<string, string | undefined>>): ImageEdits {
  const { attention, x, y, quality, blur, background, rotate } = groups;
  return {
    ...(attention && { gravity: 'attention' as const }),
    ...(x && { gravity: { x: Number(x) / 1000, y: Number(y) / 1000 } }),
    ...(quality && { quality: Number(quality) }),
    ...(blur && { blur: Number(blur) / 10 }),
    ...(background && { background }),
    ...(rotate && { rotate: Number(rotate) as 90 | 180 | 270 }),
  };
}

/** True if both show the same picture, in whatever quality. */
export const isSamePicture = (one: ImageEdits, other: ImageEdits): boolean =>
  pictureOf(one) === pictureOf(other);

const pictureOf = ({ quality: _, ...picture }: ImageEdits): string => editsName(picture);

type Size = { readonly width: number; readonly height: number };

/**
 * The largest part of an image that has the shape of `box`, with the point of interest as near to its middle
 * as the edges allow. In pixels.
 */
export function focalPart(
  { width, height }: Size,
  box: Size,
  { x, y }: FocalPoint,
): { left: number; top: number; width: number; height: number } {
  const scale = Math.min(width / box.width, height / box.height);
  const part = {
    width: Math.max(1, Math.round(box.width * scale)),
    height: Math.max(1, Math.round(box.height * scale)),
  };
  const start = (length: number, kept: number, at: number) =>
    Math.min(length - kept, Math.max(0, Math.round(length * at - kept / 2)));
  return { left: start(width, part.width, x), top: start(height, part.height, y), ...part };
}

/** Width and height after a rotation. */
export const rotatedSize = ({ width, height }: Size, rotate: number | undefined): Size =>
  rotate === 90 || rotate === 270 ? { width: height, height: width } : { width, height };
