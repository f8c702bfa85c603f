// Tests what edits do to the pixels of a variant: the kept part, rotation, blur, background and quality.
import sharp from 'sharp';
import { beforeAll, describe, expect, test } from 'vitest';
import { movie } from '../../../test/support/clips/pictures.ts';
import { render } from './render-image.worker.ts';
import type { Variant } from './variants/image-variant.ts';

const MAX_PIXELS = 1_000_000;
const draw = (bytes: Buffer, variant: Partial<Variant>): Promise<Buffer> => {
  const plain = { width: 120, height: 40, fit: 'inside', format: 'png', animated: false } as const;
  return render(Buffer.from(bytes), { ...plain, ...variant }, MAX_PIXELS);
};
const fill = (width: number, height: number, background: string) =>
  sharp({ create: { width, height, channels: 4, background } }).png();

const RED = [255, 0, 0, 255];
const GREEN = [0, 255, 0, 255];
const BLUE = [0, 0, 255, 255];
const NAVY = [16, 32, 48, 255];
const NOTHING = [0, 0, 0, 0];

describe('of red, green and blue beside each other, half of the blue cut off', () => {
  let stripes: Buffer;
  beforeAll(async () => {
    const strip = async (background: string, left: number, width: number) => ({
      input: await fill(width, 40, background).toBuffer(),
      left,
      top: 0,
    });
    stripes = await fill(120, 40, '#f00')
      .composite([
        await strip('#0f0', 40, 40),
        await strip('#00f', 80, 40),
        { ...(await strip('#000', 100, 20)), blend: 'dest-out' },
      ])
      .toBuffer();
  });

  async function pixelAt(x: number, y: number, variant: Partial<Variant>): Promise<number[]> {
    const { data, info } = await sharp(await draw(stripes, variant))
      .ensureAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    const at = 4 * (y * info.width + x);
    return [...data.subarray(at, at + 4)];
  }
  const square = { width: 20, height: 20, fit: 'cover' } as const;

  test.each<[string, Variant['edits'], readonly number[]]>([
    ['the center', undefined, GREEN],
    ['the left edge', { gravity: { x: 0, y: 0.5 } }, RED],
    ['a point in the blue', { gravity: { x: 0.8, y: 0 } }, BLUE],
    ['its focal point', { focalPoint: { x: 0.8, y: 0 } }, BLUE],
    ['its focal point, which rotates along', { rotate: 270, focalPoint: { x: 0, y: 0.5 } }, RED],
    ['what is below after a rotation', { rotate: 270, gravity: { x: 0.5, y: 1 } }, RED],
  ])('a crop keeps %s', async (_, edits, colour) => {
    expect(await pixelAt(5, 10, { ...square, ...(edits && { edits }) })).toEqual(colour);
  });

  test('a rotation by 90° puts the left edge above', async () => {
    const upright = { width: 40, height: 120, edits: { rotate: 90 } } as const;
    expect(await pixelAt(20, 5, upright)).toEqual(RED);
    expect(await pixelAt(20, 90, upright)).toEqual(BLUE);
    expect(await pixelAt(20, 115, upright)).toEqual(NOTHING);
  });

  test('a background lies behind transparent pixels and in margins', async () => {
    const edits = { background: '102030' };
    expect(await pixelAt(115, 20, { edits })).toEqual(NAVY);
    expect(await pixelAt(30, 2, { width: 60, height: 60, fit: 'contain', edits })).toEqual(NAVY);
    expect(await pixelAt(30, 2, { width: 60, height: 60, fit: 'contain' })).toEqual(NOTHING);
  });

  test('a blur mixes neighbours', async () => {
    const [red = 0, green = 0] = await pixelAt(40, 20, { edits: { blur: 5 } });
    for (const mixed of [red, green]) expect(mixed > 60 && mixed < 200).toBe(true);
  });
});

test('attention keeps what stands out', async () => {
  const spot = { input: await fill(60, 60, '#ff2000').toBuffer(), left: 520, top: 70 };
  const grey = await fill(600, 200, '#808080').composite([spot]).toBuffer();
  const meanRed = async (edits: Variant['edits']) => {
    const drawn = await draw(grey, { width: 200, height: 200, fit: 'cover', ...(edits && { edits }) });
    return (await sharp(drawn).stats()).channels[0]?.mean ?? 0;
  };
  expect(await meanRed({ gravity: 'attention' })).toBeGreaterThan((await meanRed(undefined)) + 5);
});

test('an animation is cropped around a point in each frame', async () => {
  const bytes = await movie({ width: 64, height: 48, frames: 5, format: 'gif' });
  const drawn = await draw(bytes, {
    ...{ width: 16, height: 48, fit: 'cover', format: 'webp', animated: true },
    edits: { gravity: { x: 0, y: 0.5 } },
  });
  const { pages, width, pageHeight } = await sharp(drawn, { animated: true }).metadata();
  expect({ pages, width, pageHeight }).toEqual({ pages: 5, width: 16, pageHeight: 48 });
});

test.each(['jpeg', 'webp', 'avif'] as const)('a lower quality takes fewer bytes: %s', async (format) => {
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
  const bytes = await sharp({ create: { width: 300, height: 300, channels: 3, background: '#fff', noise } })
    .png()
    .toBuffer();
  const sizeAt = async (quality: number) =>
    (await draw(bytes, { width: 300, height: 300, format, edits: { quality } })).byteLength;
  expect(await sizeAt(20)).toBeLessThan((await sizeAt(90)) / 2);
});
