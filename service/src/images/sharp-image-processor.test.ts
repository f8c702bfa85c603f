// Tests that output is upright, sRGB and without metadata, and that invalid images are rejected.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeHeic } from '../../../test/support/clips/heic.ts';
import { bombGif, bombPng, movie } from '../../../test/support/clips/pictures.ts';
import { openTestDecoders, type TestDecoders } from '../../../test/support/clips/decoders.ts';
import type { ExaminedImage, ImageFacts, RenderedImage } from './image-processor.ts';
import type { Variant } from './variants/image-variant.ts';

let decoders: TestDecoders;
let folder: string;
beforeAll(async () => {
  decoders = openTestDecoders({ image: { maxPixels: 1_000_000, deadlineMs: 60_000 } });
  folder = await mkdtemp(join(tmpdir(), 'mediary-image-'));
});
afterAll(async () => {
  await decoders.close();
  await rm(folder, { recursive: true });
});

const source = (bytes: Uint8Array) => async (): Promise<string> => {
  const path = join(folder, randomUUID());
  await writeFile(path, bytes);
  return path;
};
const examine = async (bytes: Uint8Array): Promise<ExaminedImage> =>
  decoders.imageProcessor.examine(source(bytes));
const refusal = async (bytes: Uint8Array) => {
  const seen = await examine(bytes);
  return 'refused' in seen ? seen.refused : 'accepted';
};
const draw = (width: number, height: number): Sharp =>
  sharp({ create: { width, height, channels: 3, background: '#40c040' } });

async function factsOf(bytes: Uint8Array): Promise<ImageFacts> {
  const seen = await examine(bytes);
  if ('refused' in seen) throw new Error(seen.refused);
  return seen.facts;
}

async function render(bytes: Uint8Array, variant: Partial<Variant>): Promise<Buffer> {
  const defaults = { width: 40, height: 30, fit: 'inside', format: 'jpeg', animated: false } as const;
  const made: RenderedImage = await decoders.imageProcessor.render(
    source(bytes),
    { ...defaults, ...variant },
    { id: 'asset', owner_user_id: 'ann' },
  );
  if ('refused' in made) throw new Error(made.refused);
  return Buffer.from(made.bytes);
}

describe('a valid image', () => {
  test.each(['jpeg', 'png', 'webp', 'avif', 'gif'] as const)(
    'is measured and has a placeholder and a thumbnail: %s',
    async (format) => {
      const seen = await examine(await draw(800, 600).toFormat(format).toBuffer());
      expect(seen).toMatchObject({
        facts: {
          width: 800,
          height: 600,
          animated: false,
          alpha: false,
          placeholder: expect.stringMatching(/^[\w+/]{20,40}=*$/),
        },
      });
      expect('thumbnail' in seen && (await sharp(seen.thumbnail).metadata())).toMatchObject({
        format: 'jpeg',
        width: 640,
        height: 480,
        space: 'srgb',
      });
    },
  );

  test.each([
    ['one translucent pixel in the last corner', 'rgba', [63, 63], 254, true],
    ['one translucent pixel in the first corner', 'rgba', [0, 0], 254, true],
    ['an alpha channel that is opaque everywhere', 'rgba', [63, 63], 255, false],
    ['grey with one transparent pixel', 'grey', [63, 63], 0, true],
    ['grey, opaque everywhere', 'grey', [63, 63], 255, false],
  ] as const)(
    'has alpha only where a pixel is not opaque: %s',
    async (...[, colour, [x, y], alpha, expected]) => {
      const channels = colour === 'rgba' ? 4 : 2;
      // The colours are below 255: they must not count as alpha.
      const pixels = Buffer.alloc(64 * 64 * channels, 100);
      for (let at = channels - 1; at < pixels.length; at += channels) pixels[at] = 255;
      pixels[(y * 64 + x) * channels + channels - 1] = alpha;
      const picture = sharp(pixels, { raw: { width: 64, height: 64, channels } });
      expect((await factsOf(await picture.png().toBuffer())).alpha).toBe(expected);
    },
  );

  test('is read from a file by its path as well', async () => {
    const path = await source(await draw(8, 6).png().toBuffer())();
    expect(await decoders.imageProcessor.examine(path)).toMatchObject({ facts: { width: 8, height: 6 } });
    await rm(path);
    await expect(decoders.imageProcessor.examine(path)).rejects.toThrow('ENOENT');
  });

  test.each(['16 bits', 'grey', 'CMYK'])('of an odd kind becomes plain sRGB: %s', async (kind) => {
    const odd = {
      '16 bits': draw(40, 30).toColourspace('rgb16').png(),
      grey: draw(40, 30).greyscale().png(),
      CMYK: draw(40, 30).toColourspace('cmyk').jpeg(),
    }[kind] as Sharp;
    const shown = await sharp(await render(await odd.toBuffer(), { format: 'png' })).metadata();
    expect([shown.depth, shown.icc]).toEqual(['uchar', undefined]);
    expect(['srgb', 'b-w']).toContain(shown.space);
  });

  test('that can be seen through stays so, and lies on white where the form has no holes', async () => {
    const glass = await sharp({
      create: { width: 40, height: 30, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } },
    })
      .png()
      .toBuffer();
    expect((await factsOf(glass)).alpha).toBe(true);
    const corner = async (format: Variant['format']) => [
      ...(
        await sharp(await render(glass, { format }))
          .ensureAlpha()
          .raw()
          .toBuffer()
      ).subarray(0, 4),
    ];
    expect(await corner('jpeg')).toEqual([255, 255, 255, 255]);
    for (const format of ['png', 'webp', 'avif', 'gif'] as const)
      expect((await corner(format))[3], format).toBe(0);
  });

  test('fills the box, or keeps its aspect ratio within it', async () => {
    const wide = await draw(400, 100).png().toBuffer();
    const sizeOf = async (variant: Partial<Variant>) => {
      const { width, height } = await sharp(await render(wide, variant)).metadata();
      return [width, height];
    };
    expect(await sizeOf({ fit: 'cover', width: 100, height: 100 })).toEqual([100, 100]);
    expect(await sizeOf({ fit: 'contain', width: 100, height: 100, format: 'webp' })).toEqual([100, 100]);
    expect(await sizeOf({ fit: 'inside', width: 40, height: 10, format: 'avif' })).toEqual([40, 10]);
  });

  test.each(['gif', 'webp'] as const)('that moves goes on moving: %s', async (format) => {
    const bytes = await movie({ width: 64, height: 48, frames: 5, format });
    expect(await factsOf(bytes)).toMatchObject({ width: 64, height: 48, animated: true });
    for (const made of ['gif', 'webp'] as const) {
      expect(
        await sharp(await render(bytes, { width: 32, height: 24, format: made, animated: true }), {
          animated: true,
        }).metadata(),
      ).toMatchObject({ format: made, pages: 5, width: 32, pageHeight: 24 });
    }
    expect((await sharp(await render(bytes, { format: 'jpeg' })).metadata()).height).toBe(30);
  });
});

test('variants that never finish do not delay a new upload', async () => {
  const { imageProcessor, close } = openTestDecoders();
  const variant = { width: 40, height: 30, fit: 'inside', format: 'avif', animated: false } as const;
  const started = Promise.withResolvers<void>();
  const never = () => {
    started.resolve();
    return new Promise<never>(() => {});
  };
  const render = (_: unknown, asset: number) =>
    imageProcessor.render(never, variant, { id: `asset ${asset}`, owner_user_id: `owner ${asset}` });
  void Promise.allSettled(Array.from({ length: 16 }, render));
  await started.promise;
  expect(await imageProcessor.examine(source(await draw(8, 6).png().toBuffer()))).toMatchObject({
    facts: { width: 8, height: 6 },
  });
  await close();
});

describe('HEIC', () => {
  test.each([1, 2] as const)('is decoded, turned as it says: a grid of %d × that', async (tiles) => {
    const bytes = await makeHeic({ width: 512, height: 256, tiles, turned: 1 });
    expect(await factsOf(bytes)).toMatchObject({ width: 256, height: 512, animated: false, alpha: false });
    expect(await sharp(await render(bytes, { width: 64, height: 128 })).metadata()).toMatchObject({
      format: 'jpeg',
      width: 64,
      height: 128,
    });
  });

  test('has the colours of its profile', async () => {
    const { icc } = await sharp(await draw(8, 8).withIccProfile('p3').png().toBuffer()).metadata();
    const greenOf = async (profile?: Uint8Array) =>
      (
        await sharp(
          await render(
            await makeHeic({ width: 128, height: 128, colour: '0x40c040', ...(profile && { profile }) }),
            { format: 'png' },
          ),
        )
          .raw()
          .toBuffer()
      )[0] as number;
    expect((await greenOf()) - (await greenOf(icc))).toBeGreaterThan(20);
  });

  test('that is cut or lies is rejected', async () => {
    const bytes = await makeHeic({ width: 256, height: 256 });
    for (const end of [40, 300, Math.floor(bytes.length / 2)])
      expect(await refusal(bytes.subarray(0, end))).toMatch(/^(?:not_media|truncated)$/);
    expect(await refusal(await makeHeic({ width: 2048, height: 512 }))).toBe('picture_too_large');
  });
});

describe('an invalid image', () => {
  test('is rejected by its claimed size before memory is allocated', async () => {
    expect(await refusal(bombPng(30_000, 30_000))).toBe('picture_too_large');
    expect(await refusal(await draw(1001, 1000).jpeg().toBuffer())).toBe('picture_too_large');
    expect(await refusal(await draw(1000, 1000).jpeg().toBuffer())).toBe('accepted');
  });

  test('is rejected for the pixels of all its frames together', async () => {
    expect(await refusal(bombGif({ width: 250, height: 250, frames: 16 }))).toBe('accepted');
    expect(await refusal(bombGif({ width: 250, height: 250, frames: 17 }))).toBe('picture_too_large');
  });

  test('of an unsupported format is rejected', async () => {
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8">' +
      '<image href="file:///etc/hostname"/></svg>';
    for (const bytes of [
      Buffer.from(svg),
      Buffer.from(`<?xml version="1.0"?>${svg}`),
      await draw(8, 8).tiff().toBuffer(),
      Buffer.from('%PDF-1.4'),
      Buffer.from('P6 1 1 255 abc'),
      Buffer.alloc(0),
    ]) {
      expect(await refusal(bytes)).toBe('not_media');
    }
  });
});
