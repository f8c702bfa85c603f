// Tests that originals are in shared folders, and that lists of all folders can be continued.
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { openDiskObjectStore } from '../disk-object-store.ts';
import { uploadKey } from '../object-key.ts';
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

const listedRoots: string[] = [];
afterAll(() => Promise.all(listedRoots.map((root) => rm(root, { recursive: true, force: true }))));
listedObjectsContract('a disk', async () => {
  const root = await mkdtemp(join(tmpdir(), 'listed-files-'));
  listedRoots.push(root);
  return openDiskObjectStore(root, { minFreeBytes: 0 });
});
