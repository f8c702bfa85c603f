// Tests which variants are rendered, shared, stored and deleted.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createVideo } from '../lifecycle/asset.fixture.ts';
import type { Asset } from '../assets/asset.ts';
import { createSingleFlight } from '../platform/concurrency/single-flight.ts';
import { openDiskObjectStore } from '../storage/disk-object-store.ts';
import {
  originalKey,
  type ObjectKey,
  renditionKey,
  variantKey,
  variantsPrefix,
} from '../storage/object-key.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { ImageProcessor } from './image-processor.ts';
import { examine, findVariant, type ImageNeeds } from './images.ts';

let root: string;
let store: ObjectStore;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'mediary-images-'));
  store = await openDiskObjectStore(root);
});
afterAll(() => rm(root, { recursive: true }));

const idOf = (n: number) => `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const bytes = (text: string) =>
  (async function* yielded() {
    yield Buffer.from(text);
  })();
const read = async (key: ObjectKey) => (await store.read(key))?.bytes?.toString();
async function keysOf({ id }: Asset): Promise<ObjectKey[]> {
  const keys: ObjectKey[] = [];
  for await (const key of store.list(variantsPrefix(id))) keys.push(key);
  return keys;
}

const PROCESSOR: ImageProcessor = {
  canDecodeHeif: false,
  examine: async () => ({
    facts: { width: 4000, height: 3000, animated: false, alpha: false, placeholder: 'hash' },
    thumbnail: Buffer.from('small'),
  }),
  render: async (_, { format }) => ({ bytes: Buffer.from(format) }),
};

const needs = (more: Partial<ImageNeeds> & { processor?: ImageProcessor } = {}): ImageNeeds => ({
  store,
  processor: PROCESSOR,
  findAssetById: async (id) => createVideo({ id }),
  inFlight: createSingleFlight({ maxConcurrent: 100 }),
  maxVariantBytes: 1000,
  now: () => new Date(),
  ...more,
});

async function storeImage(n: number, more: Partial<Asset> = {}): Promise<Asset> {
  const asset = createVideo({
    id: idOf(n),
    kind: 'image',
    width: 4000,
    height: 3000,
    playback: { kind: 'image', attempt: 1, animated: false, alpha: false },
    size_bytes: 8,
    ...more,
  });
  await store.put(originalKey(asset), bytes('original'), 100);
  return asset;
}

test('the thumbnail of an examined image is stored, and replaces that of an earlier run', async () => {
  const asset = await storeImage(1);
  await store.put(variantKey(asset.id, 'thumb.jpg'), bytes('of an earlier run'), 100);
  expect(await examine(needs(), asset)).toEqual({ facts: expect.objectContaining({ placeholder: 'hash' }) });
  expect(await read(variantKey(asset.id, 'thumb.jpg'))).toBe('small');
});

test('a rejected or oversized image has no thumbnail', async () => {
  const asset = await storeImage(2);
  expect(
    await examine(
      needs({ processor: { ...PROCESSOR, examine: async () => ({ refused: 'truncated' }) } }),
      asset,
    ),
  ).toEqual({ refused: 'truncated' });
  expect(await examine(needs(), { ...asset, size_bytes: 2 ** 30 })).toEqual({ refused: 'too_demanding' });
  expect(await keysOf(asset)).toEqual([]);
});

test('a store without local files passes the bytes when a process is free', async () => {
  const asset = await storeImage(3);
  const { localFile: _, ...remote } = store;
  const processor: ImageProcessor = {
    ...PROCESSOR,
    render: async (source) => ({
      bytes: typeof source === 'string' ? Buffer.from('a path') : await source(),
    }),
  };
  const { key } = await findVariant(needs({ store: remote, processor }), asset, {
    query: {},
    accept: undefined,
  });
  expect(await read(key)).toBe('original');
});

test('concurrent requests render a variant once, and later requests reuse it', async () => {
  const asset = await storeImage(4);
  let made = 0;
  const shared = needs({
    processor: { ...PROCESSOR, render: async () => ({ bytes: Buffer.from(`made ${++made}`) }) },
  });
  const ask = () => findVariant(shared, asset, { query: { w: 640 }, accept: 'image/webp' });
  const answers = await Promise.all(Array.from({ length: 20 }, ask));
  expect(await ask()).toEqual({
    key: `variants/${asset.id}/640x480.webp`,
    type: 'image/webp',
    name: '640x480.webp',
  });
  expect([new Set(answers.map(({ key }) => key)).size, made, await keysOf(asset)]).toEqual([
    1,
    1,
    [`variants/${asset.id}/640x480.webp`],
  ]);
});

test('two processes that make the same end with one', async () => {
  const asset = await storeImage(5);
  const both = await Promise.all(
    [needs(), needs()].map((one) => findVariant(one, asset, { query: { format: 'png' }, accept: undefined })),
  );
  expect(both[0]).toEqual(both[1]);
  expect(await read(both[0]?.key as ObjectKey)).toBe('png');
});

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
    const asset = await storeImage(20);
    const { processor, rendered } = refusing('avif');
    const request = () =>
      findVariant(needs({ processor }), asset, { query, accept: 'image/avif,image/webp' });
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
    const asset = await storeImage(21);
    const { processor, rendered } = refusing('avif');
    const accept = 'image/avif,image/webp';
    await findVariant(needs({ processor }), asset, { query, accept });
    const later = { now: () => new Date(Date.now() + 3_600_000) };
    const served = await findVariant(needs(later), asset, { query, accept });
    expect([served.name, served.substituteFor, rendered.length]).toEqual(['640x480.avif', undefined, 2]);
  });

  test('is replaced by the closest stored variant, or by the thumbnail', async () => {
    const asset = await storeImage(22);
    const { processor } = refusing('avif', 'jpeg');
    const request = () => findVariant(needs({ processor }), asset, { query, accept: 'image/avif' });
    expect(await request()).toMatchObject({ key: `variants/${asset.id}/thumb.jpg`, type: 'image/jpeg' });
    await findVariant(needs(), asset, { query: { w: 320, format: 'png' }, accept: undefined });
    expect(await request()).toMatchObject({ name: '320x240.png', substituteFor: 'too_demanding' });
  });
});

describe('the limit of stored bytes', () => {
  const tenBytes = { ...PROCESSOR, render: async () => ({ bytes: Buffer.alloc(10) }) };

  test('applies: further variants are replaced by stored ones', async () => {
    const asset = await storeImage(23);
    const limited = needs({ processor: tenBytes, maxVariantBytes: 20 });
    const served = [];
    for (const w of [64, 640, 1280, 320])
      served.push(await findVariant(limited, asset, { query: { w }, accept: undefined }));
    expect(served.map(({ name, substituteFor }) => [name, substituteFor])).toEqual([
      ['64x48.jpg', undefined],
      ['640x480.jpg', undefined],
      ['640x480.jpg', 'storage_limit'],
      ['640x480.jpg', 'storage_limit'],
    ]);
    expect(await keysOf(asset)).toHaveLength(2);
  });

  test('holds for a variant that would exceed it, which is rendered once', async () => {
    const asset = await storeImage(24);
    let renderings = 0;
    const processor: ImageProcessor = {
      ...PROCESSOR,
      render: async () => ({ bytes: Buffer.alloc(10 * ++renderings) }),
    };
    const limited = needs({ processor, maxVariantBytes: 25 });
    const request = (w: number) => findVariant(limited, asset, { query: { w }, accept: undefined });
    expect((await request(64)).substituteFor).toBeUndefined();
    expect((await request(640)).substituteFor).toBe('storage_limit');
    expect((await request(640)).name).toBe('64x48.jpg');
    expect(renderings).toBe(2);
  });
});

test('neither a variant nor a refusal stays if the asset was deleted meanwhile', async () => {
  const asset = await storeImage(7);
  const late: ImageProcessor = { ...PROCESSOR, render: async () => ({ refused: 'too_demanding' }) };
  for (const processor of [PROCESSOR, late])
    for (const deleted of [undefined, createVideo({ deleted_at: new Date() })]) {
      const deleting = needs({ processor, findAssetById: async () => deleted });
      await findVariant(deleting, asset, { query: {}, accept: undefined });
      expect(await keysOf(asset)).toEqual([]);
    }
});

test('an asset without an image or original has no variants', async () => {
  const asset = await storeImage(8, { playback: null });
  const video = { ...asset, playback: { kind: 'own', attempt: 1, folder: '1-1' } } as const;
  const lost = {
    ...asset,
    id: idOf(9),
    playback: { kind: 'image', attempt: 1, animated: false, alpha: false },
  } as const;
  for (const one of [asset, video, lost])
    await expect(findVariant(needs(), one, { query: {}, accept: undefined })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
});

test('a new poster of a video gets new variants, and those of the old one are removed', async () => {
  const poster = await sharp({ create: { width: 1280, height: 720, channels: 3, background: 'red' } })
    .jpeg()
    .toBuffer();
  const video = createVideo({ id: idOf(30), playback: { kind: 'own', attempt: 1, folder: '1-1' } });
  const next = createVideo({
    id: idOf(30),
    playback: { kind: 'own', attempt: 1, folder: '1-1', posterTimeMs: 500 },
  });
  for (const name of ['thumb.jpg', 'poster-500.jpg'])
    await store.put(renditionKey(video.id, '1-1', name), Readable.from([poster]), 100_000);
  const request = (asset: Asset) => findVariant(needs(), asset, { query: { w: 640 }, accept: undefined });
  expect(await request(video)).toMatchObject({ name: '640x360.jpg', type: 'image/jpeg' });
  expect(await keysOf(video)).toEqual([`variants/${video.id}/v1-1-auto-640x360.jpg`]);
  await request(next);
  expect(await keysOf(video)).toEqual([`variants/${video.id}/v1-1-500-640x360.jpg`]);
});
