// The sizes of image variants that viewers may request: common responsive widths and two crops (contract B5).
import { IMAGE_CROPS, IMAGE_WIDTHS } from '@mediary/contract/operations/images';

/** Each variant is stored, so the number of sizes limits the storage per asset. */
export const WIDTHS = IMAGE_WIDTHS;

/** The size of link previews (Open Graph). Squares are the other crop. */
const PREVIEW = { w: 1200, h: 630 } as const;
export const CROPS = IMAGE_CROPS;
const MAX_LENGTH = 3840;

export type RequestedSize = { readonly w?: number; readonly h?: number; readonly fit?: string };
type Size = { readonly w?: number; readonly h?: number };

/** `allowed` lists the supported values of the field. */
type UnsupportedSize = {
  readonly field: 'w' | 'h';
  readonly reason: 'unsupported_size' | 'unsupported_crop';
  readonly allowed: readonly (number | string)[];
  readonly limit?: number;
};

/** Rounds up to the next supported size. */
export function roundSize({ w, h, fit = 'inside' }: RequestedSize): Size | UnsupportedSize {
  if (w === undefined || h === undefined || fit === 'inside') return roundEach({ w, h });
  if (w === h) return roundEach({ w, h });
  const isPreviewShape = w * PREVIEW.h === h * PREVIEW.w && w <= PREVIEW.w;
  return isPreviewShape ? PREVIEW : { field: 'h', reason: 'unsupported_crop', allowed: CROPS };
}

type OptionalSize = { readonly w: number | undefined; readonly h: number | undefined };

function roundEach(requested: OptionalSize): Size | UnsupportedSize {
  const rounded: { w?: number; h?: number } = {};
  for (const field of ['w', 'h'] as const) {
    const length = requested[field];
    if (length === undefined) continue;
    const next = WIDTHS.find((width) => width >= length);
    if (next === undefined) return { field, reason: 'unsupported_size', limit: MAX_LENGTH, allowed: WIDTHS };
    rounded[field] = next;
  }
  return rounded;
}
