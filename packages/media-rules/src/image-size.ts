// The sizes of images that the service offers, and the rounding of others (contract B5).
import { IMAGE_CROPS, IMAGE_WIDTHS } from '@mediary/contract/enums';

/** The size of link previews (Open Graph). Squares are the other crop. */
const PREVIEW = { w: 1200, h: 630 } as const;

type RequestedSize = { readonly w?: number; readonly h?: number; readonly fit?: string };
export type OfferedSize = { readonly w?: number; readonly h?: number };

/** `allowed` lists the supported values of the field. */
type UnsupportedSize = {
  readonly field: 'w' | 'h';
  readonly reason: 'unsupported_value';
  readonly allowed: readonly (number | string)[];
  readonly limit?: number;
};

/** Rounds up to the next supported size. */
export function roundSize({ w, h, fit = 'inside' }: RequestedSize): OfferedSize | UnsupportedSize {
  if (w === undefined || h === undefined || fit === 'inside') return roundEach({ w, h });
  if (w === h) return roundEach({ w, h });
  const isPreviewShape = w * PREVIEW.h === h * PREVIEW.w && w <= PREVIEW.w;
  return isPreviewShape ? PREVIEW : { field: 'h', reason: 'unsupported_value', allowed: IMAGE_CROPS };
}

type OptionalSize = { readonly w: number | undefined; readonly h: number | undefined };

function roundEach(requested: OptionalSize): OfferedSize | UnsupportedSize {
  const rounded: { w?: number; h?: number } = {};
  for (const field of ['w', 'h'] as const) {
    const length = requested[field];
    if (length === undefined) continue;
    const next = IMAGE_WIDTHS.find((width) => width >= length);
    if (next === undefined)
      return {
        field,
        reason: 'unsupported_value',
        limit: IMAGE_WIDTHS.at(-1) as number,
        allowed: IMAGE_WIDTHS,
      };
    rounded[field] = next;
  }
  return rounded;
}
