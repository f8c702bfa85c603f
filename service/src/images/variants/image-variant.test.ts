// Tests the choice of size, format and name of a variant (contract B5).
import { IMAGE_WIDTHS as WIDTHS } from '@mediary/contract/enums';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { variantKey } from '../../storage/object-key.ts';
import { rotatedSize } from './image-edits.ts';
import {
  chooseVariant,
  improvedVariant,
  FITS,
  FORMATS,
  variantName,
  type OriginalImage,
  parseVariantName,
  variantContentType,
  type VariantQuery,
} from './image-variant.ts';

const PHOTO: OriginalImage = { width: 4000, height: 3000, animated: false, alpha: false, focalPoint: null };
const CLIP: OriginalImage = { ...PHOTO, width: 480, height: 270, animated: true };
const LOGO: OriginalImage = { ...PHOTO, alpha: true };
const BROWSER = 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8';

const sizeOf = (query: VariantQuery, original = PHOTO): string =>
  variantName(chooseVariant(original, query, undefined)).replace(/\.\w+$/, '');
const formatOf = (original: OriginalImage, accept?: string, query: VariantQuery = {}) =>
  chooseVariant(original, query, accept).format;

describe('the size', () => {
  test.each<[VariantQuery, string]>([
    [{ w: 640 }, '640x480'],
    [{ h: 480 }, '640x480'],
    [{ w: 640, h: 480 }, '640x480'],
    [{ w: 640, h: 64 }, '85x64'],
    [{}, '2560x1920'],
    [{ w: 320, h: 320, fit: 'cover' }, '320x320-cover'],
    [{ w: 320, h: 320, fit: 'contain' }, '320x320-contain'],
    [{ w: 320, h: 320, fit: 'inside' }, '320x240'],
    [{ w: 320, fit: 'cover' }, '320x240'],
    [{ h: 320, fit: 'contain' }, '427x320'],
  ])('of a photo requested as %j is %s', (query, expected) => expect(sizeOf(query)).toBe(expected));

  test('is never more than the original has', () => {
    const small = { ...PHOTO, width: 200, height: 100 };
    expect(sizeOf({ w: 2560 }, small)).toBe('200x100');
    expect(sizeOf({ w: 640, h: 640, fit: 'cover' }, small)).toBe('100x100-cover');
    expect(sizeOf({ w: 640, h: 640, fit: 'contain' }, small)).toBe('200x200-contain');
    expect(sizeOf({ w: 128, h: 256, fit: 'cover' }, small)).toBe('50x100-cover');
  });

  test('of a long strip is at most 5120 pixels long and at least one pixel wide', () => {
    expect(sizeOf({ w: 640 }, { ...PHOTO, width: 800, height: 6000 })).toBe('640x4800');
    expect(sizeOf({ w: 640 }, { ...PHOTO, width: 800, height: 60_000 })).toBe('68x5120');
    expect(sizeOf({ w: 64 }, { ...PHOTO, width: 1, height: 50_000_000 })).toBe('1x5120');
  });
});

test('of a huge image has at most 12 megapixels and the same aspect ratio', () => {
  expect(sizeOf({ w: 3840 }, { ...PHOTO, width: 7000, height: 7000 })).toBe('3464x3464');
  expect(sizeOf({ w: 3840, h: 3840, fit: 'cover' }, { ...PHOTO, width: 7000, height: 7000 })).toBe(
    '3464x3464-cover',
  );
});

describe('the format', () => {
  test.each<[string, readonly [OriginalImage, string?], string]>([
    ['a photo for a browser', [PHOTO, BROWSER], 'avif'],
    ['a photo for an older one', [PHOTO, 'image/webp,*/*'], 'webp'],
    ['a photo for clients that accept everything', [PHOTO, '*/*'], 'jpeg'],
    ['a photo without Accept header', [PHOTO], 'jpeg'],
    [
      'a photo for clients that refuse AVIF',
      [PHOTO, 'image/avif;q=0, image/webp ; q = 0.000,image/*'],
      'jpeg',
    ],
    ['a photo for an odd sender', [PHOTO, 'IMAGE/AVIF;q=0.1'], 'avif'],
    ['a logo without Accept header', [LOGO], 'png'],
    ['a logo for a browser', [LOGO, BROWSER], 'avif'],
    ['what moves for a browser', [CLIP, BROWSER], 'webp'],
    ['an animation without Accept header', [CLIP], 'gif'],
    ['what moves for AVIF alone', [CLIP, 'image/avif'], 'gif'],
  ])('of %s', (_, [original, accept], expected) => expect(formatOf(original, accept)).toBe(expected));

  test.each(FORMATS)('is %s if requested', (format) =>
    expect(formatOf(CLIP, BROWSER, { format })).toBe(format),
  );

  test('moves where it can', () => {
    const moving = (query: VariantQuery, accept?: string) => chooseVariant(CLIP, query, accept).animated;
    expect([
      moving({}),
      moving({}, BROWSER),
      moving({ format: 'webp' }),
      moving({ format: 'avif' }),
      moving({ format: 'jpeg' }),
    ]).toEqual([true, true, true, false, false]);
    expect(chooseVariant(PHOTO, { format: 'webp' }, undefined).animated).toBe(false);
  });

  test('has its media type', () => {
    expect(FORMATS.map((format) => variantContentType(chooseVariant(PHOTO, { format }, undefined)))).toEqual([
      'image/avif',
      'image/webp',
      'image/jpeg',
      'image/png',
    ]);
  });
});

test('every variant fits its box, enlarges nothing, and has a parsable name that can be a key', () => {
  const thousandths = fc.integer({ min: 0, max: 1000 }).map((part) => part / 1000);
  const originals = fc.record({
    width: fc.integer({ min: 1, max: 70_000 }),
    height: fc.integer({ min: 1, max: 70_000 }),
    animated: fc.boolean(),
    alpha: fc.boolean(),
    focalPoint: fc.option(fc.record({ x: thousandths, y: thousandths })),
  });
  const length = fc.constantFrom(...WIDTHS);
  const queries = fc.record(
    {
      w: length,
      h: length,
      fit: fc.constantFrom(...FITS),
      format: fc.constantFrom(...FORMATS),
      dpr: fc.integer({ min: 1, max: 4 }),
      gravity: fc.constantFrom('center', 'attention', '0,1', '0.5,0.25', '0.5,0.5', '0.333,1'),
      quality: fc.integer({ min: 1, max: 100 }),
      blur: fc.constantFrom(0.3, 2.25, 100),
      background: fc.constantFrom('ffffff', 'C0FFEE'),
      rotate: fc.constantFrom(90, 180, 270),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(originals, queries, fc.option(fc.string(), { nil: undefined }), (original, query, accept) => {
      const variant = chooseVariant(original, query as VariantQuery, accept);
      expect(variant.width).toBeLessThanOrEqual((query.w ?? 5120) * (query.dpr ?? 1));
      expect(variant.height).toBeLessThanOrEqual((query.h ?? 5120) * (query.dpr ?? 1));
      expect(variant.width * variant.height).toBeLessThanOrEqual(12_100_000);
      const seen = rotatedSize(original, query.rotate);
      if (variant.fit !== 'contain')
        expect([variant.width <= seen.width, variant.height <= seen.height]).toEqual([true, true]);
      const name = variantName(variant);
      expect(variantKey('019aab7c-4d2e-7c55-9f0e-6d1f2b3c4d5e', name)).toContain(name);
      expect({ ...parseVariantName(name), animated: variant.animated }).toEqual(variant);
      const improved = improvedVariant(variant);
      if (!improved) return;
      expect(variantName(improved)).not.toBe(name);
      expect({ ...parseVariantName(variantName(improved)), animated: false }).toEqual(improved);
    }),
  );
});

test.each<[VariantQuery, string, OriginalImage?]>([
  [{ w: 300, h: 200, fit: 'fill' }, '300x200-fill'],
  [{ w: 9000, h: 200, fit: 'fill' }, '4000x200-fill'],
  [{ w: 300, h: 200, fit: 'cover', dpr: 2 }, '600x400-cover'],
  [{ w: 300, rotate: 90 }, '300x400-r90'],
  [{ w: 300, rotate: 180 }, '300x225-r180'],
  [{ w: 300, h: 200, fit: 'cover', gravity: 'attention', quality: 40 }, '300x200-cover-attention-q40'],
  [{ w: 300, h: 200, fit: 'cover', gravity: '0.25,1' }, '300x200-cover-at250x1000'],
  [{ w: 300, blur: 2.5, background: 'C0FFEE' }, '300x225-b25-cc0ffee'],
  // What changes nothing is not in the name.
  [{ w: 300, gravity: 'attention' }, '300x225'],
  [{ w: 300, h: 200, fit: 'cover', gravity: '0.5,0.500' }, '300x200-cover'],
  [{ w: 300, quality: 40, format: 'png' }, '300x225'],
  // An animation moves on, unless it is rotated or blurred.
  [{ w: 90, h: 90, fit: 'cover', gravity: 'attention' }, '90x90-cover', CLIP],
  [{ w: 90, h: 90, fit: 'cover', gravity: 'attention', blur: 1 }, '90x90-cover-attention-b10', CLIP],
])('the variant %j is %s', (query, expected, original = PHOTO) => {
  expect(sizeOf(query, original)).toBe(expected);
});

test.each<[VariantQuery, boolean]>([
  [{ w: 2560, format: 'avif' }, true],
  [{ w: 1080, format: 'avif' }, false],
  [{ w: 2560, format: 'webp' }, false],
])('the variant %j of a photo is rendered again with more effort: %s', (query, expected) => {
  const improved = improvedVariant(chooseVariant(PHOTO, query, undefined));
  expect(improved?.isImproved ?? false).toBe(expected);
  expect(improved && improvedVariant(improved)).toBeUndefined();
});

test.each([
  'thumb.jpg',
  'late-640x480.webp',
  '640x480.svg',
  '640x480-outside.png',
  '640x480-q.png',
  '640x480-q80-attention.png',
  '123456x1.png',
  '',
])('%j is not the name of a variant', (name) => expect(parseVariantName(name)).toBeUndefined());

test('all queries without a crop end in two sizes for each width', () => {
  const names = WIDTHS.flatMap((w) => [undefined, ...WIDTHS].map((h) => sizeOf({ w, ...(h && { h }) })));
  expect(new Set(names).size).toBeLessThanOrEqual(2 * WIDTHS.length);
});
