// Tests that originals are in shared folders, and that lists can be continued and name only own files.
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { openDiskObjectStore } from '../disk-object-store.ts';
import { assetPrefixes, renditionKey, storeRoots, uploadKey } from '../object-key.ts';
import { listedObjectsContract } from '../listed-objects.contract.ts';
import { inChunks } from '../object-store.fixture.ts';
import { shardOf } from './shards.ts';

test('an upload creates no folder, and its asset is in the name of its file', async () => {
  const root = await mkdtemp(join(tmpdir(), 'original-files-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const store = await openDiskObjectStore(root);
  const [asset, upload] = [randomUUID(), randomUUID()];
  await store.put(uploadKey(asset, upload), inChunks(Buffer.from('bytes'), 9), 5);
  expect(await readdir(join(root, 'originals', shardOf(asset)))).toEqual([`${asset}_${upload}`]);
});

test('lists name no files and folders of other programs', async () => {
  const root = await mkdtemp(join(tmpdir(), 'foreign-files-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const store = await openDiskObjectStore(root, { minFreeBytes: 0 });
  const [asset, upload] = [randomUUID(), randomUUID()];
  const keys = [uploadKey(asset, upload), renditionKey(asset, '1-1', 'a.m4s')];
  for (const key of keys) await store.put(key, inChunks(Buffer.from('bytes'), 9), 5);
  const renditions = join('objects', shardOf(asset), 'renditions');
  for (const place of ['originals/00', renditions, join(renditions, asset), join(renditions, asset, '1-1')]) {
    await mkdir(join(root, place, '@eaDir'));
    for (const name of ['Thumbs.db', '.DS_Store', '@eaDir/a.m4s'])
      await writeFile(join(root, place, name), 'foreign');
  }
  const [listed, sizes]: string[][] = [[], []];
  for (const prefix of storeRoots()) {
    for await (const key of store.list(prefix)) listed?.push(key);
    for await (const { key } of store.listSizes(prefix)) sizes?.push(key);
  }
  expect([listed, sizes]).toEqual([keys, keys]);
  for (const prefix of assetPrefixes(asset)) await store.removeAll(prefix);
  expect(await readdir(join(root, renditions))).not.toContain(asset);
});

const listedRoots: string[] = [];
afterAll(() => Promise.all(listedRoots.map((root) => rm(root, { recursive: true, force: true }))));
listedObjectsContract('a disk', async () => {
  const root = await mkdtemp(join(tmpdir(), 'listed-files-'));
  listedRoots.push(root);
  return openDiskObjectStore(root, { minFreeBytes: 0 });
});
