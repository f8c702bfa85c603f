// Tests the choice of a substitute variant.
import { describe, expect, test } from 'vitest';
import type { Variant } from './image-variant.ts';
import { cheaperVariant, closestVariant } from './variant-substitute.ts';

const AVIF: Variant = { width: 640, height: 480, fit: 'inside', format: 'avif', animated: false };
const CLIP: Variant = { ...AVIF, format: 'webp', animated: true };

type Viewer = { readonly alpha?: boolean; readonly accept?: string };

describe('the cheaper variant', () => {
  test.each<[string, Variant, Viewer, object]>([
    ['of AVIF is WebP', AVIF, { accept: 'image/avif,image/webp' }, { ...AVIF, format: 'webp' }],
    ['of AVIF is JPEG for viewers without WebP', AVIF, {}, { ...AVIF, format: 'jpeg' }],
    ['of transparent AVIF is PNG for them', AVIF, { alpha: true, accept: '*/*' }, { ...AVIF, format: 'png' }],
    ['of an animation is a smaller one', CLIP, {}, { ...CLIP, width: 320, height: 240 }],
    ['has at least one pixel', { ...CLIP, width: 1, height: 3200 }, {}, { ...CLIP, width: 1, height: 320 }],
  ])('%s', (...[, variant, { alpha = false, accept }, expected]) =>
    expect(cheaperVariant(variant, { alpha }, accept)).toEqual(expected),
  );

  test.each<[string, Variant]>([
    ['a still WebP', { ...AVIF, format: 'webp' }],
    ['a JPEG', { ...AVIF, format: 'jpeg' }],
    ['a small animation', { ...CLIP, width: 320, height: 320 }],
  ])('%s has none', (_, variant) => expect(cheaperVariant(variant, { alpha: false })).toBeUndefined());
});

describe('the closest stored variant', () => {
  test.each<[string, string[], string | undefined]>([
    ['is the next larger one', ['320x240.jpg', '1280x960.jpg', '960x720.jpg'], '960x720.jpg'],
    ['is the largest where none is larger', ['320x240.jpg', '480x360.png'], '480x360.png'],
    ['has a format that the viewer accepts', ['640x480.webp', '320x240.jpg'], '320x240.jpg'],
    ['has the requested shape', ['640x640-cover.jpg', '640x427.jpg'], undefined],
    ['may have the requested format', ['640x480.avif'], '640x480.avif'],
    ['may be a PNG', ['640x480.png'], '640x480.png'],
    ['may have exactly the requested size', ['320x240.jpg', '640x480.jpg', '960x720.jpg'], '640x480.jpg'],
    ['may differ by a rounded pixel', ['639x480.jpg'], '639x480.jpg'],
    ['is neither wider nor narrower', ['720x480.jpg', '560x480.jpg'], undefined],
    ['is not cropped otherwise', ['640x480-cover.jpg'], undefined],
    ['is missing where nothing is stored', [], undefined],
    ['is no marker and no thumbnail', ['thumb.jpg', 'late-640x480.jpg'], undefined],
  ])('%s', (_, names, expected) => expect(closestVariant(names, AVIF)?.name).toBe(expected));

  test('may be WebP for a viewer that accepts it', () =>
    expect(closestVariant(['640x480.webp', '320x240.jpg'], AVIF, 'image/webp')?.name).toBe('640x480.webp'));
});
