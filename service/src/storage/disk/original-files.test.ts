// Tests that originals are in shared folders, and that those of earlier releases are moved there.
import { randomUUID } from 'node:crypto';
import { access, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDiskObjectStore } from '../disk-object-store.ts';
import { type ObjectKey, originalPrefix, uploadKey, variantKey } from '../object-key.ts';
import { inChunks, originalOf } from '../object-store.fixture.ts';
import type { ObjectStore } from '../object-store.ts';
import { shardOf } from './shards.ts';

let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'original-files-'));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

const newRoot = () => join(scratch, randomUUID());
const nestedFolder = (root: string, asset: string) =>
  join(root, 'objects', shardOf(asset), 'originals', asset);
const originalsOf = async (store: ObjectStore) => {
  const keys: ObjectKey[] = [];
  for await (const key of store.list('originals/' as ObjectKey)) keys.push(key);
  return keys.sort();
};
const text = async (store: ObjectStore, key: ObjectKey) => (await buffer(store.stream(key))).toString();

/** An original where releases before this layout stored it. */
async function writeNested(root: string, key: ObjectKey): Promise<void> {
  const folder = nestedFolder(root, key.split('/')[1] as string);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, basename(key)), key);
}

test('an upload creates no folder, and its asset is in the name of its file', async () => {
  const root = newRoot();
  const store = await openDiskObjectStore(root);
  const [asset, upload] = [randomUUID(), randomUUID()];
  await store.put(uploadKey(asset, upload), inChunks(Buffer.from('bytes'), 9), 5);
  expect(await readdir(join(root, 'originals', shardOf(asset)))).toEqual([`${asset}_${upload}`]);
});

test('originals of earlier releases are found after the start; other objects stay', async () => {
  const root = newRoot();
  const assets = Array.from({ length: 40 }, () => randomUUID());
  const keys = assets.flatMap((asset) => [originalOf(asset), uploadKey(asset, randomUUID())]);
  const variant = variantKey(assets[0] as string, 'w64.webp');
  await (await openDiskObjectStore(root)).put(variant, inChunks(Buffer.from('variant'), 9), 9);
  for (const key of keys) await writeNested(root, key);

  const [store] = await Promise.all([1, 2, 3].map(() => openDiskObjectStore(root)));
  if (!store) throw new Error('no store was opened');
  expect(await originalsOf(store)).toEqual(keys.toSorted());
  for (const key of keys) expect(await text(store, key)).toBe(key);
  expect(await text(store, variant)).toBe('variant');
  for (const asset of assets)
    await expect(access(dirname(nestedFolder(root, asset)))).rejects.toMatchObject({ code: 'ENOENT' });
  expect(await store.removeAll(originalPrefix(assets[0] as string))).toBe(2);
});

test('a move that ended between the new and the old name is completed', async () => {
  const root = newRoot();
  const key = uploadKey(randomUUID(), randomUUID());
  const earlier = await openDiskObjectStore(root);
  await earlier.put(key, inChunks(Buffer.from(key), 99), 99);
  await writeNested(root, key);
  const store = await openDiskObjectStore(root);
  expect(await originalsOf(store)).toEqual([key]);
  expect(await text(store, key)).toBe(key);
  expect(await readdir(join(root, 'objects', shardOf(key.split('/')[1] as string)))).toEqual([]);
});
