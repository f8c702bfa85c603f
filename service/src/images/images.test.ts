// Tests which variants are rendered, shared, stored and deleted.
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Asset } from '../assets/asset.ts';
import { createVideo } from '../lifecycle/asset.fixture.ts';
import type { LocalFile } from '../storage/local-file.ts';
import { type ObjectKey, renditionKey, variantKey } from '../storage/object-key.ts';
import type { ImageProcessor, ImageFile } from './image-processor.ts';
import {
  createAssetId,
  type ImageStore,
  openImageStore,
  PROCESSOR,
} from '../../../test/support/store/image-store.ts';
import { examine, getVariant } from './images.ts';

let images: ImageStore;
beforeAll(async () => {
  images = await openImageStore();
});
afterAll(() => images.close());

test('the thumbnail of an examined image is stored, and replaces that of an earlier run', async () => {
  const asset = await images.storeImage(1);
  await images.store.put(
    variantKey(asset.id, 'thumb.jpg'),
    Readable.from([Buffer.from('of an earlier run')]),
    100,
  );
  expect(await examine(images.createContext(), asset)).toEqual({
    facts: expect.objectContaining({ placeholder: 'hash' }),
  });
  expect(await images.readText(variantKey(asset.id, 'thumb.jpg'))).toBe('small');
});

test('a rejected or oversized image has no thumbnail', async () => {
  const asset = await images.storeImage(2);
  expect(
    await examine(
      images.createContext({
        imageProcessor: { ...PROCESSOR, examine: async () => ({ refused: 'truncated' }) },
      }),
      asset,
    ),
  ).toEqual({ refused: 'truncated' });
  expect(await examine(images.createContext(), { ...asset, size_bytes: 2 ** 30 })).toEqual({
    refused: 'too_demanding',
  });
  expect(await images.listVariantKeys(asset)).toEqual([]);
});

describe('a store without local files', () => {
  const isPath = (source: ImageFile) => typeof source === 'string';
  const seen: string[] = [];
  const readSource = async (source: ImageFile) => {
    const path = isPath(source) ? source : await source();
    seen.push(await readFile(path, 'utf8'));
  };
  const reading: ImageProcessor = {
    ...PROCESSOR,
    examine: async (source) => {
      await readSource(source);
      return PROCESSOR.examine(source);
    },
    render: async (source, variant, asset) => {
      await readSource(source);
      return PROCESSOR.render(source, variant, asset);
    },
  };
  const remote = () => {
    const { localFile: _, ...store } = images.store;
    return store;
  };
  const variantOf = (asset: Asset, more: Parameters<ImageStore['createContext']>[0]) =>
    getVariant(images.createContext({ store: remote(), ...more }), asset, { query: {}, accept: undefined });

  test('gives decoders the path of a copy, which is removed afterwards', async () => {
    const asset = await images.storeImage(3);
    await examine(images.createContext({ store: remote(), imageProcessor: reading }), asset);
    await variantOf(asset, { imageProcessor: reading });
    expect(seen).toEqual(['original', 'original']);
    expect(await images.listScratch()).toEqual([]);
  });

  test('reads the original once, for its digest and for the decoder', async () => {
    const asset = await images.storeImage(25);
    const store = { ...remote(), stream: vi.fn(images.store.stream) };
    const digests: unknown[] = [];
    const verify = async ({ sha256 }: LocalFile) => digests.push(sha256) > 1;
    expect(
      await examine(images.createContext({ store, imageProcessor: reading }), asset, { verify }),
    ).toBeUndefined();
    expect(await examine(images.createContext({ store }), asset, { verify })).toHaveProperty('facts');
    const digest = hash('sha256', 'original');
    expect([digests, store.stream.mock.calls.length]).toEqual([[digest, digest], 2]);
    expect(await images.listScratch()).toEqual([]);
  });

  test('makes no copy before a process is free, and keeps none when it fails', async () => {
    const asset = await images.storeImage(6);
    const busy: ImageProcessor = {
      ...PROCESSOR,
      render: async (source) => {
        expect([isPath(source), await images.listScratch()]).toEqual([false, []]);
        await readSource(source);
        throw new Error('the process pool is closed');
      },
    };
    await expect(variantOf(asset, { imageProcessor: busy })).rejects.toThrow('closed');
    expect(await images.listScratch()).toEqual([]);
  });

  test('keeps no copy of a job that is stopped while it copies', async () => {
    const asset = await images.storeImage(10);
    const stop = new AbortController();
    const stalled = { ...remote(), stream: () => new Readable({ read: () => {} }) };
    const examined = examine(images.createContext({ store: stalled }), asset, { signal: stop.signal });
    const refused = expect(examined).rejects.toThrow('aborted');
    await expect.poll(() => images.listScratch()).toHaveLength(1);
    stop.abort();
    await refused;
    expect(await images.listScratch()).toEqual([]);
  });
});

test('concurrent requests render a variant once, and later requests reuse it', async () => {
  const asset = await images.storeImage(4);
  let made = 0;
  const shared = images.createContext({
    imageProcessor: { ...PROCESSOR, render: async () => ({ bytes: Buffer.from(`made ${++made}`) }) },
  });
  const ask = () => getVariant(shared, asset, { query: { w: 640 }, accept: 'image/webp' });
  const answers = await Promise.all(Array.from({ length: 20 }, ask));
  expect(await ask()).toEqual({
    key: `variants/${asset.id}/640x480.webp`,
    type: 'image/webp',
    name: '640x480.webp',
  });
  expect([new Set(answers.map(({ key }) => key)).size, made, await images.listVariantKeys(asset)]).toEqual([
    1,
    1,
    [`variants/${asset.id}/640x480.webp`],
  ]);
});

test('two processes that make the same end with one', async () => {
  const asset = await images.storeImage(5);
  const both = await Promise.all(
    [images.createContext(), images.createContext()].map((one) =>
      getVariant(one, asset, { query: { format: 'png' }, accept: undefined }),
    ),
  );
  expect(both[0]).toEqual(both[1]);
  expect(await images.readText(both[0]?.key as ObjectKey)).toBe('png');
});

test('neither a variant nor a refusal stays if the asset was deleted meanwhile', async () => {
  const asset = await images.storeImage(7);
  const late: ImageProcessor = { ...PROCESSOR, render: async () => ({ refused: 'too_demanding' }) };
  for (const processor of [PROCESSOR, late])
    for (const deleted of [undefined, createVideo({ deleted_at: new Date() })]) {
      const deleting = images.createContext({
        imageProcessor: processor,
        lifecycle: { ...images.createContext().lifecycle, findAssetById: async () => deleted },
      });
      await getVariant(deleting, asset, { query: {}, accept: undefined });
      expect(await images.listVariantKeys(asset)).toEqual([]);
    }
});

test('an asset without an image or original has no variants', async () => {
  const asset = await images.storeImage(8, { playback: null });
  const video = { ...asset, playback: { kind: 'own', attempt: 1, folder: '1-1' } } as const;
  const lost = {
    ...asset,
    id: createAssetId(9),
    original_upload: createAssetId(9),
    playback: { kind: 'image', attempt: 1, animated: false, alpha: false },
  } as const;
  for (const one of [asset, video, lost])
    await expect(
      getVariant(images.createContext(), one, { query: {}, accept: undefined }),
    ).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
});

test('a new poster of a video gets new variants, and those of the old one are removed', async () => {
  const poster = await sharp({ create: { width: 1280, height: 720, channels: 3, background: 'red' } })
    .jpeg()
    .toBuffer();
  const video = createVideo({ id: createAssetId(30), playback: { kind: 'own', attempt: 1, folder: '1-1' } });
  const next = createVideo({
    id: createAssetId(30),
    playback: { kind: 'own', attempt: 1, folder: '1-1', posterTimeMs: 500 },
  });
  for (const name of ['thumb.jpg', 'poster-500.jpg'])
    await images.store.put(renditionKey(video.id, '1-1', name), Readable.from([poster]), 100_000);
  const request = (asset: Asset) =>
    getVariant(images.createContext(), asset, { query: { w: 640 }, accept: undefined });
  expect(await request(video)).toMatchObject({ name: '640x360.jpg', type: 'image/jpeg' });
  expect(await images.listVariantKeys(video)).toEqual([`variants/${video.id}/v1-1-auto-640x360.jpg`]);
  await request(next);
  expect(await images.listVariantKeys(video)).toEqual([`variants/${video.id}/v1-1-500-640x360.jpg`]);
});
