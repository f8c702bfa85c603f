// Tests the substitutes for variants that cannot be rendered in time or stored.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ImageProcessor } from './image-processor.ts';
import { type ImageStore, openImageStore, PROCESSOR } from '../../../test/support/store/image-store.ts';
import { getVariant } from './images.ts';

let images: ImageStore;
beforeAll(async () => {
  images = await openImageStore();
});
afterAll(() => images.close());

/** Refuses some formats, and counts what it was asked to render. */
function refusing(...formats: string[]) {
  const rendered: string[] = [];
  const processor: ImageProcessor = {
    ...PROCESSOR,
    render: async (_, { width, format }) => {
      rendered.push(`${width}.${format}`);
      return formats.includes(format) ? { refused: 'too_demanding' } : { bytes: Buffer.from(format) };
    },
  };
  return { processor, rendered };
}

describe('a variant that cannot be rendered in time', () => {
  const query = { w: 640 };

  test('is replaced by a cheaper format, and other processes know the failure', async () => {
    const asset = await images.storeImage(20);
    const { processor, rendered } = refusing('avif');
    const request = () =>
      getVariant(images.createContext({ imageProcessor: processor }), asset, {
        query,
        accept: 'image/avif,image/webp',
      });
    const substitute = {
      key: `variants/${asset.id}/640x480.webp`,
      type: 'image/webp',
      name: '640x480.webp',
      substituteFor: 'too_demanding',
    };
    expect([await request(), await request()]).toEqual([substitute, substitute]);
    expect(rendered).toEqual(['640.avif', '640.webp']);
  });

  test('is tried again after a while', async () => {
    const asset = await images.storeImage(21);
    const { processor, rendered } = refusing('avif');
    const accept = 'image/avif,image/webp';
    await getVariant(images.createContext({ imageProcessor: processor }), asset, { query, accept });
    const later = { now: () => new Date(Date.now() + 3_600_000) };
    const served = await getVariant(images.createContext(later), asset, { query, accept });
    expect([served.name, served.substituteFor, rendered.length]).toEqual(['640x480.avif', undefined, 2]);
  });

  test('is replaced by the closest stored variant, or by the thumbnail', async () => {
    const asset = await images.storeImage(22);
    const { processor } = refusing('avif', 'jpeg');
    const request = () =>
      getVariant(images.createContext({ imageProcessor: processor }), asset, { query, accept: 'image/avif' });
    expect(await request()).toMatchObject({ key: `variants/${asset.id}/thumb.jpg`, type: 'image/jpeg' });
    await getVariant(images.createContext(), asset, { query: { w: 320, format: 'png' }, accept: undefined });
    expect(await request()).toMatchObject({ name: '320x240.png', substituteFor: 'too_demanding' });
  });
});

describe('the limit of stored bytes', () => {
  const limitedTo = (maxVariantBytes: number) => ({
    maxVariantBytes,
    variantRetrySeconds: 900,
    photoLocation: 'off' as const,
    imagePresets: new Map(),
  });
  const tenBytes = { ...PROCESSOR, render: async () => ({ bytes: Buffer.alloc(10) }) };

  test('applies: further variants are replaced by stored ones', async () => {
    const asset = await images.storeImage(23);
    const limited = images.createContext({ imageProcessor: tenBytes, settings: limitedTo(20) });
    const served = [];
    for (const w of [64, 640, 1280, 320])
      served.push(await getVariant(limited, asset, { query: { w }, accept: undefined }));
    expect(served.map(({ name, substituteFor }) => [name, substituteFor])).toEqual([
      ['64x48.jpg', undefined],
      ['640x480.jpg', undefined],
      ['640x480.jpg', 'storage_limit'],
      ['640x480.jpg', 'storage_limit'],
    ]);
    expect(await images.listVariantKeys(asset)).toHaveLength(2);
  });

  test('holds for a variant that would exceed it, which is rendered once', async () => {
    const asset = await images.storeImage(24);
    let renderings = 0;
    const processor: ImageProcessor = {
      ...PROCESSOR,
      render: async () => ({ bytes: Buffer.alloc(10 * ++renderings) }),
    };
    const limited = images.createContext({ imageProcessor: processor, settings: limitedTo(25) });
    const request = (w: number) => getVariant(limited, asset, { query: { w }, accept: undefined });
    expect((await request(64)).substituteFor).toBeUndefined();
    expect((await request(640)).substituteFor).toBe('storage_limit');
    expect((await request(640)).name).toBe('64x48.jpg');
    expect(renderings).toBe(2);
  });
});
