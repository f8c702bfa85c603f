// Tests the source of image variants and their caching (contract B5).
import { describe, expect, test } from 'vitest';
import { createVideo, NOW } from '../lifecycle/asset.fixture.ts';
import { imageCaching, findVariantSource, imageVersion } from './image-source.ts';

const image = createVideo({
  kind: 'image',
  width: 40,
  height: 30,
  playback: { kind: 'image', attempt: 1, animated: true, alpha: true },
});
const video = createVideo({ playback: { kind: 'own', attempt: 1, folder: '1-2' } });
const poster = createVideo({ playback: { kind: 'own', attempt: 1, folder: '1-2', posterTimeMs: 4500 } });

describe('the source', () => {
  test('of an image is its original', () => {
    expect(findVariantSource(image)).toEqual({
      key: `originals/${image.id}/${image.original_upload}`,
      thumbnail: `variants/${image.id}/thumb.jpg`,
      prefix: '',
      size: { width: 40, height: 30 },
      animated: true,
      alpha: true,
      focalPoint: null,
    });
  });

  test('of a video is its thumbnail or the chosen poster, with variants of its own', () => {
    const [thumbnail, chosen] = ['thumb', 'poster-4500'].map(
      (name) => `renditions/${video.id}/1-2/${name}.jpg`,
    );
    const still = { size: undefined, animated: false, alpha: false, focalPoint: null };
    expect([video, poster].map((asset) => findVariantSource(asset))).toEqual([
      { key: thumbnail, thumbnail, prefix: 'v1-2-auto-', ...still },
      { key: chosen, thumbnail: chosen, prefix: 'v1-2-4500-', ...still },
    ]);
  });

  test('is missing while nothing plays, and for videos of other encoders', () => {
    const urls = { kind: 'urls', attempt: 1, hls: 'https://a/b', dash: null, thumbnail: null } as const;
    const unsized = [
      { ...image, width: null },
      { ...image, height: null },
    ];
    for (const asset of [createVideo(), createVideo({ playback: urls, width: 40, height: 30 }), ...unsized])
      expect(findVariantSource(asset)).toBeUndefined();
  });
});

test('the version changes with the visibility, the encoding, the poster and the focal point', () => {
  const focused = { ...image, focal_point: { x: 0.3, y: 1 } };
  const versions = [image, { ...image, playback_version: 2 }, focused, video, poster].map(imageVersion);
  expect(versions).toEqual(['1', '2', '1-300x1000', '1-1-2-auto', '1-1-2-4500']);
});

describe('a cache', () => {
  const publicImage = { ...image, visibility: 'public' } as const;
  test.each([
    [publicImage, { version: '1', isSubstitute: false }, 'public, max-age=3600'],
    [publicImage, { version: '0', isSubstitute: false }, 'public, max-age=300'],
    [publicImage, { version: undefined, isSubstitute: false }, 'public, max-age=300'],
    [publicImage, { version: '1', isSubstitute: true }, 'public, max-age=60'],
    [image, { version: '1', isSubstitute: false }, 'private, max-age=300'],
    [image, { version: '1', isSubstitute: true }, 'private, max-age=60'],
  ])('asks again in time: %#', (asset, served, expected) =>
    expect(imageCaching(asset, { token: 'token', now: NOW, ...served })).toBe(expected),
  );
});
