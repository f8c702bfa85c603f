// Tests the supported sizes and the rounding of others (contract B5).
import { IMAGE_FITS as FITS, IMAGE_WIDTHS as WIDTHS } from '@mediary/contract/enums';
import { roundSize } from '@mediary/media-rules/image-size';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseVariant, type VariantQuery, variantName } from './variants/image-variant.ts';

type RequestedSize = Parameters<typeof roundSize>[0];

test.each(WIDTHS)('width and height %d are offered', (length) => {
  expect(roundSize({ w: length })).toEqual({ w: length });
  expect(roundSize({ h: length })).toEqual({ h: length });
  expect(roundSize({ w: length, h: length, fit: 'cover' })).toEqual({ w: length, h: length });
});

test.each<[RequestedSize, object]>([
  [{}, {}],
  [{ w: 1 }, { w: 16 }],
  [{ w: 100 }, { w: 128 }],
  [{ h: 641 }, { h: 750 }],
  [{ w: 3000 }, { w: 3840 }],
  [
    { w: 100, h: 650, fit: 'inside' },
    { w: 128, h: 750 },
  ],
  [
    { w: 100, h: 100, fit: 'cover' },
    { w: 128, h: 128 },
  ],
  [{ w: 100, fit: 'cover' }, { w: 128 }],
  [
    { w: 1200, h: 630, fit: 'cover' },
    { w: 1200, h: 630 },
  ],
  [
    { w: 600, h: 315, fit: 'contain' },
    { w: 1200, h: 630 },
  ],
])('%j becomes %j', (requested, offered) => expect(roundSize(requested)).toEqual(offered));

describe('is rejected', () => {
  test.each<[RequestedSize, string]>([
    [{ w: 3841 }, 'w'],
    [{ w: 64, h: 100_000 }, 'h'],
    [{ w: 4000, h: 4000, fit: 'cover' }, 'w'],
  ])('%j: larger than any size', (requested, field) =>
    expect(roundSize(requested)).toEqual({
      field,
      reason: 'unsupported_value',
      limit: 3840,
      allowed: WIDTHS,
    }),
  );

  test.each<RequestedSize>([
    { w: 640, h: 480, fit: 'cover' },
    { w: 1201, h: 630, fit: 'cover' },
    { w: 2400, h: 1260, fit: 'contain' },
  ])('%j: no crop of the table', (requested) =>
    expect(roundSize(requested)).toEqual({
      field: 'h',
      reason: 'unsupported_value',
      allowed: ['1:1', '1200x630'],
    }),
  );
});

test('an offered size is rounded to itself', () => {
  const lengths = fc.option(fc.integer({ min: 1, max: 3840 }), { nil: undefined });
  fc.assert(
    fc.property(lengths, lengths, fc.constantFrom(...FITS), (w, h, fit) => {
      const size = roundSize({ ...(w && { w }), ...(h && { h }), fit });
      if (!('reason' in size)) expect(roundSize({ ...size, fit })).toEqual(size);
    }),
  );
});

test('one format of one image has at most 118 variants', () => {
  const photo = { width: 7000, height: 5000, animated: false, alpha: false, focalPoint: null };
  const lengths = [undefined, ...WIDTHS, 630];
  const names = new Set<string>();
  for (const w of lengths)
    for (const h of lengths)
      for (const fit of FITS) {
        const size = roundSize({ ...(w && { w }), ...(h && { h }), fit });
        if ('reason' in size) continue;
        const query: VariantQuery = { ...size, fit, format: 'webp' };
        names.add(variantName(chooseVariant(photo, query, undefined)));
      }
  expect(names.size).toBeLessThanOrEqual(118);
});
