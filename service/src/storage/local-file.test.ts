// Tests the copies of objects for decoders and encoders: their digest, their limits, and that none stays.
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createStorageContext } from './context.fixture.ts';
import { openDiskObjectStore } from './disk-object-store.ts';
import { findLocalFile, prepareLocalFile } from './local-file.ts';
import { uploadKey } from './object-key.ts';
import type { ObjectStore } from './object-store.ts';

const BYTES = Buffer.alloc(3_000_000, 'film');
const key = uploadKey(randomUUID(), randomUUID());
const missing = uploadKey(randomUUID(), randomUUID());
let root: string;
let scratchRoot: string;
let disk: ObjectStore;
let remote: ObjectStore;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'mediary-copies-'));
  scratchRoot = join(root, 'scratch');
  await mkdir(scratchRoot);
  disk = await openDiskObjectStore(root);
  await disk.put(key, Readable.from([BYTES]), BYTES.length);
  const { localFile: _, ...store } = disk;
  remote = store;
});
afterAll(() => rm(root, { recursive: true }));

const contextFor = (store: ObjectStore, minFreeBytes = 0) =>
  createStorageContext({ store, scratchRoot, settings: { minFreeBytes } });
const path = () => join(scratchRoot, 'original');

test('the file of a disk is used as it is', async () => {
  const file = prepareLocalFile(contextFor(disk), key);
  expect(await file.open()).toEqual({ path: disk.localFile?.(key) });
  await file.close();
  expect(await disk.size(key)).toBe(BYTES.length);
  expect(await findLocalFile(contextFor(disk), missing, { path: path() })).toBeUndefined();
});

test('an object of another store is copied, digested and removed', async () => {
  const file = prepareLocalFile(contextFor(remote), key);
  expect(await readdir(scratchRoot)).toEqual([]);
  const copy = await file.open();
  expect(copy.sha256).toBe(createHash('sha256').update(BYTES).digest('hex'));
  expect(BYTES.equals(await readFile(copy.path))).toBe(true);
  await file.close();
  expect(await readdir(scratchRoot)).toEqual([]);
});

test('a missing object leaves no folder', async () => {
  const file = prepareLocalFile(contextFor(remote), missing);
  await expect(file.open()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await file.close();
  expect(await readdir(scratchRoot)).toEqual([]);
});

test('nothing is copied to a disk without space for it', async () => {
  let streams = 0;
  const counted = {
    ...remote,
    stream: () => {
      streams += 1;
      return Readable.from([]);
    },
  };
  const full = contextFor(counted, Number.MAX_SAFE_INTEGER);
  await expect(findLocalFile(full, key, { path: path() })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    details: { reason: 'disk_full' },
  });
  expect([streams, await readdir(scratchRoot)]).toEqual([0, []]);
});

test.each([
  ['more', [BYTES, Buffer.from('!')]],
  ['fewer', [BYTES.subarray(1)]],
])('%s bytes than announced are refused, and not kept', async (_, chunks) => {
  const wrong = { ...remote, stream: () => Readable.from(chunks) };
  await expect(findLocalFile(contextFor(wrong), key, { path: path() })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
  });
  expect(await readdir(scratchRoot)).toEqual([]);
});
