// Tests that originals are in shared folders.
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDiskObjectStore } from '../disk-object-store.ts';
import { uploadKey } from '../object-key.ts';
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
