// What a variant changes besides its size, as members of the variant and as a part of its name.

import type { FocalPoint } from '@mediary/contract/schemas/common';

export type ImageEdits = {
  /** What `cover` keeps, a point of the rotated picture; undefined: the focal point, or the center. */
  readonly gravity?: 'attention' | FocalPoint;
  /** That of the asset, in the picture before the rotation. Never beside `gravity`. */
  readonly focalPoint?: FocalPoint;
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

type EditedVariant = {
  readonly isCropped: boolean;
  readonly isLossy: boolean;
  readonly animated: boolean;
  /** That of the asset. */
  readonly focalPoint: FocalPoint | null;
};

/** Leaves out what would change nothing, so that equal bytes have equal names. */
export function toEdits(
  { gravity, quality, blur, background, rotate }: EditQuery,
  { isCropped, isLossy, animated, focalPoint }: EditedVariant,
): ImageEdits {
  return {
    ...(isCropped && toKeptPart({ gravity, animated, focalPoint })),
    ...(isLossy && quality !== undefined && { quality }),
    ...(blur !== undefined && { blur: Math.round(10 * blur) / 10 }),
    ...(background !== undefined && { background: background.toLowerCase() }),
    ...(rotate !== undefined && { rotate: rotate as 90 | 180 | 270 }),
  };
}

/** The part of names and versions: `300x600` of 0.3, 0.6. */
export const formatFocalPoint = ({ x, y }: FocalPoint): string =>
  `${Math.round(1000 * x)}x${Math.round(1000 * y)}`;

type KeptPart = Pick<ImageEdits, 'gravity' | 'focalPoint'>;

/** Empty for the center. */
function toKeptPart({
  gravity,
  animated,
  focalPoint,
}: { readonly gravity: string | undefined } & Pick<EditedVariant, 'animated' | 'focalPoint'>): KeptPart {
  if (gravity === undefined) return focalPoint && !isCenter(focalPoint) ? { focalPoint } : {};
  // The decoder weighs still pictures only.
  if (gravity === 'attention') return animated ? {} : { gravity };
  const [x, y] = gravity.split(',').map(Number);
  return x === undefined || y === undefined || isCenter({ x, y }) ? {} : { gravity: { x, y } };
}

const isCenter = ({ x, y }: FocalPoint): boolean => x === 0.5 && y === 0.5;

/** The part of a variant's name: empty without edits. */
export function editsName({ gravity, focalPoint, quality, blur, background, rotate }: ImageEdits): string {
  const parts = [
    gravity === 'attention' ? gravity : gravity && `at${formatFocalPoint(gravity)}`,
    focalPoint && `focal${formatFocalPoint(focalPoint)}`,
    quality && `q${quality}`,
    blur && `b${Math.round(10 * blur)}`,
    background && `c${background}`,
    rotate && `r${rotate}`,
  ];
  return parts.flatMap((part) => (part ? [`-${part}`] : [])).join('');
}

/** The focal point in the name of a variant, or of a file whose name contains it. */
export const FOCAL_PART = /-focal(\d{1,4}x\d{1,4})/;

/** Of a regular expression: matches what `editsName` writes. */
export const EDITS_PATTERN =
  '(?:-(?<attention>attention)|-(?<pointOf>at|focal)(?<x>\\d{1,4})x(?<y>\\d{1,4}))?' +
  '(?:-q(?<quality>\\d{1,3}))?(?:-b(?<blur>\\d{1,4}))?(?:-c(?<background>[0-9a-f]{6}))?' +
  '(?:-r(?<rotate>90|180|270))?';

/** Reads the groups of EDITS_PATTERN. */
export function parseEdits(groups: Readonly<Record<string, string | undefined>>): ImageEdits {
  const { attention, pointOf, x, y, quality, blur, background, rotate } = groups;
  return {
    ...(attention && { gravity: 'attention' as const }),
    ...(pointOf && { [pointOf === 'at' ? 'gravity' : 'focalPoint']: toPoint(x, y) }),
    ...(quality && { quality: Number(quality) }),
    ...(blur && { blur: Number(blur) / 10 }),
    ...(background && { background }),
    ...(rotate && { rotate: Number(rotate) as 90 | 180 | 270 }),
  };
}

const toPoint = (x: string | undefined, y: string | undefined): FocalPoint => ({
  x: Number(x) / 1000,
  y: Number(y) / 1000,
});

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

/** Where a point is after a clockwise rotation of its picture. */
export function rotatedPoint({ x, y }: FocalPoint, rotate: number | undefined): FocalPoint {
  if (rotate === 90) return { x: 1 - y, y: x };
  if (rotate === 180) return { x: 1 - x, y: 1 - y };
  return rotate === 270 ? { x: y, y: 1 - x } : { x, y };
}
