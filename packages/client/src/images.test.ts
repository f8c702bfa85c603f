// URLs of images in other sizes name only sizes that the service offers.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  imageWidths,
  nextImageLoader,
  nuxtImageProvider,
  sizedImageUrl,
  unpicTransformer,
} from './images.ts';

const SRC = 'https://media.example.com/api/v1/playback/1/~1795422000.Jq/image?v=3';

test.each([
  [{ width: 640 }, `${SRC}&w=640`],
  [{ width: 600 }, `${SRC}&w=640`],
  [{ width: 1, height: 700 }, `${SRC}&w=16&h=750`],
  [{ width: 100, height: 100, fit: 'cover' }, `${SRC}&w=128&h=128&fit=cover`],
  [
    { width: 1200, height: 630, fit: 'contain', format: 'webp' },
    `${SRC}&w=1200&h=630&fit=contain&format=webp`,
  ],
  [{ width: 600, height: 315, fit: 'cover' }, `${SRC}&w=1200&h=630&fit=cover`],
  [{ width: 0.5 }, `${SRC}&w=16`],
  [{}, SRC],
] as const)('%j', (size, url) => {
  expect(sizedImageUrl(SRC, size)).toBe(url);
});

test('a size of the URL is replaced, its other parameters stay', () => {
  expect(sizedImageUrl(`${SRC}&w=64&h=64&fit=cover&format=png#top`, { width: 320 })).toBe(
    `${SRC}&format=png&w=320`,
  );
  expect(sizedImageUrl('/image', { width: 320 })).toBe('/image?w=320');
  expect(sizedImageUrl('/image?w=64', {})).toBe('/image');
  const signed = '/image?fit=cover&w=64&h=32&gravity=0.5%2C0&dpr=2&v=1&s=sig';
  expect(sizedImageUrl(signed, { width: 320 })).toBe('/image?v=1&w=320');
  expect(sizedImageUrl('/image?preset=card', { width: 320 })).toBe('/image?w=320');
});

describe('a size that the service does not offer is refused in words', () => {
  test.each([
    [{ width: 3841 }, 'width must be more than 0 and at most 3840: 3841'],
    [{ height: 0 }, 'height must be more than 0'],
    [{ width: Number.NaN }, 'NaN'],
    [{ width: 640, height: 480, fit: 'cover' }, 'fit=cover needs equal width and height, or 1200x630'],
    [{ fit: 'contain' }, 'fit=contain'],
  ] as const)('%j', (size, words) => {
    expect(() => sizedImageUrl(SRC, size)).toThrow(words);
  });
});

test('Unpic gets the formats that the service has, and the best one for others', () => {
  const formats = ['avif', 'jpg', 'gif', undefined].map((format) => unpicTransformer(SRC, { format }));
  expect(formats).toEqual([`${SRC}&format=avif`, `${SRC}&format=jpeg`, SRC, SRC]);
});

test('components get the next larger width, and the largest beyond it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), (width) => {
      const offered = imageWidths.find((each) => each >= width) ?? 3840;
      for (const url of [
        nextImageLoader({ src: SRC, width }),
        unpicTransformer(new URL(SRC), { width: `${width}` }),
        nuxtImageProvider().getImage(SRC, { modifiers: { width } }).url,
      ])
        expect(url).toBe(`${SRC}&w=${offered}`);
    }),
  );
});
