// Restores of objects: what a store has stays, and what a killed process or a bad disk left is replaced.
import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BackupTarget } from '../../storage/backup-target.ts';
import { openFolderBackupTarget } from '../../storage/backup/folder-backup-target.ts';
import { openDiskObjectStore } from '../../storage/disk-object-store.ts';
import { uploadKey } from '../../storage/object-key.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { readBytes } from '../../storage/whole-objects.ts';
import { objectPath, writeBytes } from './backup-files.ts';
import { restoreObjects } from './backup-objects.ts';

const BYTES = Buffer.from('all bytes of the object');

let root: string;
let store: ObjectStore;
let target: BackupTarget;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'mediary-objects-'));
  store = await openDiskObjectStore(join(root, 'objects'), { minFreeBytes: 0 });
  target = openFolderBackupTarget(join(root, 'target'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** The target has these bytes instead of those that the snapshot lists. */
async function backUp(backedUp = BYTES) {
  const key = uploadKey(randomUUID(), randomUUID());
  await writeBytes(target, objectPath({ path: key }), backedUp);
  const sha256 = createHash('sha256').update(BYTES).digest('hex');
  return { key, object: { path: key, sizeBytes: BYTES.length, sha256 } };
}

test('a part of an object is replaced by the whole one', async () => {
  const { key, object } = await backUp();
  await store.put(key, [BYTES.subarray(0, 3)], 100);
  await restoreObjects(store, target, [object]);
  expect((await readBytes(store, key)).equals(BYTES)).toBe(true);
  await restoreObjects(store, target, [object]);
  expect(await store.size(key)).toBe(BYTES.length);
});

test('a damaged file of the backup is refused, and leaves no object', async () => {
  const { key, object } = await backUp(Buffer.from('ALL bytes of the object'));
  await expect(restoreObjects(store, target, [object])).rejects.toMatchObject({
    cause: { message: expect.stringContaining('has other bytes than') },
  });
  expect(await store.size(key)).toBeUndefined();
});
