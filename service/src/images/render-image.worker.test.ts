// Tests what an examined image is told to be, and how its variants are drawn, in this process.
import sharp, { type Sharp } from 'sharp';
import { describe, expect, test } from 'vitest';
import { examine, render } from './render-image.worker.ts';
import type { Variant } from './variants/image-variant.ts';

const MAX_PIXELS = 10_000_000;
const plain = (width: number, height: number): Sharp =>
  sharp({ create: { width, height, channels: 3, background: '#4080c0' } });
const clear = (width: number, height: number): Sharp =>
  sharp({ create: { width, height, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } } });
async function examined(bytes: Buffer) {
  const found = await examine(bytes, MAX_PIXELS);
  if ('refused' in found) throw new Error(found.refused);
  return found;
}
const factsOf = async (picture: Sharp) => (await examined(await picture.png().toBuffer())).facts;
const metadataOf = (bytes: Uint8Array) => sharp(bytes, { animated: true }).metadata();

async function movie(width: number, height: number, frames: number): Promise<Buffer> {
  const pixels = Buffer.alloc(width * height * frames * 3);
  for (let at = 0; at < pixels.length; at += 1)
    pixels[at] = (at * 7 + Math.floor(at / (width * height * 3)) * 50) % 256;
  return sharp(pixels, { raw: { width, height: height * frames, channels: 3, pageHeight: height } })
    .gif()
    .toBuffer();
}

const draw = async (bytes: Buffer, variant: Partial<Variant>): Promise<Buffer> =>
  render(
    bytes,
    { width: 40, height: 30, fit: 'inside', format: 'png', animated: false, ...variant },
    MAX_PIXELS,
  );
const cornerOf = async (bytes: Buffer) => [
  ...(await sharp(bytes).ensureAlpha().raw().toBuffer()).subarray(0, 4),
];

/** Of a picture of 40 × 20 pixels, by rows. */
const CORNERS = [
  [2, 2],
  [37, 2],
  [2, 17],
  [37, 17],
] as const;
async function isLightAt(bytes: Buffer, [x, y]: readonly [number, number]): Promise<boolean> {
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
  return (data[(y * info.width + x) * info.channels] as number) > 128;
}

describe('an image has alpha only where a pixel is not opaque', () => {
  test.each([
    ['one translucent pixel in the last corner', 4, [63, 63], 254, true],
    ['one translucent pixel in the first corner', 4, [0, 0], 254, true],
    ['an alpha channel that is opaque everywhere', 4, [63, 63], 255, false],
    ['grey with one transparent pixel', 2, [63, 63], 0, true],
    ['grey, opaque everywhere', 2, [63, 63], 255, false],
  ] as const)('%s', async (...[, channels, [x, y], alpha, expected]) => {
    // The colours are below 255: they must not be taken for alpha.
    const pixels = Buffer.alloc(64 * 64 * channels, 100);
    for (let at = channels - 1; at < pixels.length; at += channels) pixels[at] = 255;
    pixels[(y * 64 + x) * channels + channels - 1] = alpha;
    expect((await factsOf(sharp(pixels, { raw: { width: 64, height: 64, channels } }))).alpha).toBe(expected);
  });
  test('no alpha channel', async () => {
    expect((await factsOf(plain(64, 64))).alpha).toBe(false);
    expect((await factsOf(plain(64, 64).greyscale())).alpha).toBe(false);
  });
});

describe('an examined image', () => {
  test('has its size, a placeholder, and a thumbnail on white', async () => {
    const { facts, thumbnail } = await examined(await clear(800, 600).png().toBuffer());
    expect(facts).toMatchObject({ width: 800, height: 600, animated: false, alpha: true });
    expect(Buffer.from(facts.placeholder as string, 'base64').length).toBeGreaterThan(4);
    expect(await metadataOf(thumbnail)).toMatchObject({ format: 'jpeg', width: 640, height: 480 });
    expect(await cornerOf(thumbnail as Buffer)).toEqual([255, 255, 255, 255]);
  });
  test('is not enlarged for its thumbnail', async () => {
    const { thumbnail } = await examined(await plain(20, 10).png().toBuffer());
    expect(await metadataOf(thumbnail)).toMatchObject({ width: 20, height: 10 });
  });
  test('that is animated is rejected when a later frame is damaged', async () => {
    const bytes = await movie(64, 64, 4);
    expect((await examined(bytes)).facts).toMatchObject({ width: 64, height: 64, animated: true });
    bytes.fill(255, Math.floor(bytes.length * 0.8));
    await expect(examine(bytes, MAX_PIXELS)).rejects.toThrow('Invalid frame data');
  });
});

describe('a variant', () => {
  test.each(['jpeg', 'png', 'webp', 'avif', 'gif'] as const)('is encoded as %s', async (format) => {
    const made = await metadataOf(await draw(await plain(80, 60).png().toBuffer(), { format }));
    expect(made).toMatchObject({ format: format === 'avif' ? 'heif' : format, width: 40, height: 30 });
  });
  test('has exactly the size of its name', async () => {
    const bytes = await plain(81, 60).png().toBuffer();
    expect(await metadataOf(await draw(bytes, { width: 40, height: 29 }))).toMatchObject({
      width: 40,
      height: 29,
    });
  });
  test('fills its box, or keeps the whole image between transparent margins', async () => {
    const bytes = await plain(80, 20).png().toBuffer();
    const square = { width: 20, height: 20 } as const;
    expect((await cornerOf(await draw(bytes, { ...square, fit: 'cover' })))[3]).toBe(255);
    expect((await cornerOf(await draw(bytes, { ...square, fit: 'contain' })))[3]).toBe(0);
  });
  test('in JPEG lies on white, in any other format it stays transparent', async () => {
    const bytes = await clear(80, 60).png().toBuffer();
    expect(await cornerOf(await draw(bytes, { format: 'jpeg' }))).toEqual([255, 255, 255, 255]);
    const wide = await plain(80, 20).png().toBuffer();
    const margin = await cornerOf(
      await draw(wide, { width: 20, height: 20, fit: 'contain', format: 'jpeg' }),
    );
    expect(Math.min(...margin)).toBeGreaterThan(240);
    expect((await cornerOf(await draw(bytes, { format: 'webp' })))[3]).toBe(0);
  });
  test('in JPEG loads progressively', async () => {
    const bytes = await plain(80, 60).png().toBuffer();
    expect((await metadataOf(await draw(bytes, { format: 'jpeg' }))).isProgressive).toBe(true);
  });
  test('of an animation has all frames, or the first', async () => {
    const bytes = await movie(64, 48, 3);
    const moving = await draw(bytes, { width: 32, height: 24, format: 'webp', animated: true });
    expect(await metadataOf(moving)).toMatchObject({ pages: 3, width: 32, pageHeight: 24 });
    expect((await metadataOf(await draw(bytes, { width: 32, height: 24 }))).height).toBe(24);
  });
  test('of an animation ignores its orientation, whether it moves or not', async () => {
    const pixels = Buffer.alloc(80 * 40 * 2 * 3);
    // The left half is white in the first frame, and light grey in the second.
    for (let at = 0; at < pixels.length; at += 3)
      if ((at / 3) % 80 < 40) pixels.fill(at < pixels.length / 2 ? 255 : 200, at, at + 3);
    const bytes = await sharp(pixels, { raw: { width: 80, height: 80, channels: 3, pageHeight: 40 } })
      .withMetadata({ orientation: 6 })
      .webp({ lossless: true })
      .toBuffer();
    expect(await metadataOf(bytes)).toMatchObject({ orientation: 6, pages: 2 });
    const { facts, thumbnail } = await examined(bytes);
    expect(facts).toMatchObject({ width: 80, height: 40 });
    expect(await metadataOf(thumbnail)).toMatchObject({ width: 80, height: 40 });
    const size = { width: 40, height: 20 };
    for (const still of [
      await draw(bytes, size),
      await draw(bytes, { ...size, format: 'webp', animated: true }),
    ])
      expect(await Promise.all(CORNERS.map((corner) => isLightAt(still, corner)))).toEqual([
        true,
        false,
        true,
        false,
      ]);
  });
});
