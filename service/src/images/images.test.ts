// Pictures are examined and made behind the port: what is stored, what is shared, what is left behind.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { videoOf } from '../assets/asset.fixture.ts';
import type { Asset } from '../assets/asset.ts';
import { singleFlight } from '../platform/single-flight.ts';
import { openDiskObjectStore } from '../storage/disk-object-store.ts';
import { originalKey, type ObjectKey, variantKey, variantsPrefix } from '../storage/object-key.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { ImageProcessor } from './image-processor.ts';
import { examine, type ImageNeeds, variantOf } from './images.ts';

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
  takesHeif: false,
  examine: async () => ({
    facts: { width: 4000, height: 3000, animated: false, alpha: false, placeholder: 'hash' },
    thumbnail: Buffer.from('small'),
  }),
  render: async (_, { format }) => ({ bytes: Buffer.from(format) }),
  close: async () => {},
};

const needs = (more: Partial<ImageNeeds> & { processor?: ImageProcessor } = {}): ImageNeeds => ({
  store,
  processor: PROCESSOR,
  byId: async (id) => videoOf({ id }),
  inFlight: singleFlight({ most: 2 }),
  ...more,
});

async function picture(n: number, more: Partial<Asset> = {}): Promise<Asset> {
  const asset = videoOf({
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

test('an examined picture has its thumbnail stored, again and whole where an earlier run had stored one', async () => {
  const asset = await picture(1);
  await store.put(variantKey(asset.id, 'thumb.jpg'), bytes('of an earlier run'), 100);
  expect(await examine(needs(), asset)).toEqual({ facts: expect.objectContaining({ placeholder: 'hash' }) });
  expect(await read(variantKey(asset.id, 'thumb.jpg'))).toBe('small');
});

test('a picture that is refused, or too heavy to be looked at, has none', async () => {
  const asset = await picture(2);
  expect(
    await examine(
      needs({ processor: { ...PROCESSOR, examine: async () => ({ refused: 'truncated' }) } }),
      asset,
    ),
  ).toEqual({ refused: 'truncated' });
  expect(await examine(needs(), { ...asset, size_bytes: 2 ** 30 })).toEqual({ refused: 'too_demanding' });
  expect(await keysOf(asset)).toEqual([]);
});

test('a store without files hands the bytes over when it is their turn', async () => {
  const asset = await picture(3);
  const { localFile: _, ...remote } = store;
  const processor: ImageProcessor = {
    ...PROCESSOR,
    render: async (source) => ({
      bytes: typeof source === 'string' ? Buffer.from('a path') : await source(),
    }),
  };
  const { key } = await variantOf(needs({ store: remote, processor }), asset, {
    wish: {},
    accept: undefined,
  });
  expect(await read(key)).toBe('original');
});

test('what many ask for at once is made once, and found by those who come later', async () => {
  const asset = await picture(4);
  let made = 0;
  const shared = needs({
    processor: { ...PROCESSOR, render: async () => ({ bytes: Buffer.from(`made ${++made}`) }) },
  });
  const ask = () => variantOf(shared, asset, { wish: { w: 640 }, accept: 'image/webp' });
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
  const asset = await picture(5);
  const both = await Promise.all(
    [needs(), needs()].map((one) => variantOf(one, asset, { wish: { format: 'png' }, accept: undefined })),
  );
  expect(both[0]).toEqual(both[1]);
  expect(await read(both[0]?.key as ObjectKey)).toBe('png');
});

test('too many at once are asked to come back, as is whoever wants what takes too long', async () => {
  const asset = await picture(6);
  const { promise, resolve } = Promise.withResolvers<{ bytes: Buffer }>();
  const slow = needs({ processor: { ...PROCESSOR, render: () => promise } });
  const busy = [64, 128].map((w) => variantOf(slow, asset, { wish: { w }, accept: undefined }));
  await expect
    .poll(async () =>
      variantOf(slow, asset, { wish: { w: 256 }, accept: undefined }).catch(({ code }) => code),
    )
    .toBe('UNAVAILABLE');
  resolve({ bytes: Buffer.from('x') });
  await Promise.all(busy);
  const never = needs({ processor: { ...PROCESSOR, render: async () => ({ refused: 'too_demanding' }) } });
  await expect(variantOf(never, asset, { wish: { w: 320 }, accept: undefined })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
  });
});

test('what was made for an asset that is deleted by then does not stay', async () => {
  const asset = await picture(7);
  for (const gone of [undefined, videoOf({ deleted_at: new Date() })]) {
    await variantOf(needs({ byId: async () => gone }), asset, { wish: {}, accept: undefined });
    expect(await keysOf(asset)).toEqual([]);
  }
});

test('of what is no picture, or has lost its original, there is none', async () => {
  const asset = await picture(8, { playback: null });
  const video = { ...asset, playback: { kind: 'own', attempt: 1, folder: '1-1' } } as const;
  const lost = {
    ...asset,
    id: idOf(9),
    playback: { kind: 'image', attempt: 1, animated: false, alpha: false },
  } as const;
  for (const one of [asset, video, lost])
    await expect(variantOf(needs(), one, { wish: {}, accept: undefined })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
});
