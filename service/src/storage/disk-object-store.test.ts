// Tests the disk store with the contract of the port, and the failures that only a disk has.
import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keptFolder } from '../../../test/support/tree/temporary-folder.ts';
import { syncFolder } from '../platform/disk/sync-folder.ts';
import { writeFully } from './disk/incoming.ts';
import { shardOf } from './disk/shards.ts';
import { openDiskObjectStore } from './disk-object-store.ts';
import { otherPutsContract } from './other-puts.contract.ts';
import { type ObjectKey, renditionKey, renditionPrefix, renditionsPrefix, variantKey } from './object-key.ts';
import { objectStoreContract } from './object-store.contract.ts';
import { MIB, originalOf } from './object-store.fixture.ts';
import type { ObjectStore } from './object-store.ts';
import { partialObjectsContract } from './partial-objects.contract.ts';

let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(keptFolder(), 'disk-object-store-'));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

const newRoot = () => join(scratch, randomUUID());
const incomingOf = (root: string) => readdir(join(root, 'incoming'));
const folderOf = (store: ObjectStore, key: ObjectKey) => dirname(store.localFile?.(key) ?? '');
async function* source(...chunks: (Uint8Array | Error)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) {
    if (chunk instanceof Error) throw chunk;
    yield chunk;
  }
}

function idsOfOneShard(count: number): string[] {
  const ids: string[] = [];
  while (ids.length < count) {
    const id = randomUUID();
    if (shardOf(id) === 'a0') ids.push(id);
  }
  return ids;
}

objectStoreContract('a disk', () => openDiskObjectStore(newRoot()));
otherPutsContract('a disk', () => openDiskObjectStore(newRoot()));
partialObjectsContract('a disk', () => openDiskObjectStore(newRoot()));

describe('files', () => {
  test('the root is accessible to its owner only, and can be opened again with its objects', async () => {
    const root = join(newRoot(), 'deeper');
    const key = originalOf(randomUUID());
    await (await openDiskObjectStore(root)).put(key, source(Buffer.from('bytes')), 5);
    expect((await stat(root)).mode & 0o777).toBe(0o700);
    expect(await (await openDiskObjectStore(root)).size(key)).toBe(5);
  });

  test('an object is a file on this machine', async () => {
    const root = newRoot();
    const store = await openDiskObjectStore(root);
    const key = originalOf(randomUUID());
    await store.put(key, source(Buffer.from('bytes')), 5);
    const path = store.localFile?.(key) ?? '';
    expect(path.startsWith(join(root, 'originals'))).toBe(true);
    expect(await readFile(path, 'utf8')).toBe('bytes');
  });

  test('the first objects of many assets in one shard can be created at once', async () => {
    const store = await openDiskObjectStore(newRoot());
    const keys = idsOfOneShard(20).map((id) => variantKey(id, 'thumbnail.jpg'));
    const results = await Promise.allSettled(keys.map((key) => store.putSmall(key, [Buffer.from('bytes')])));
    expect(results.filter(({ status }) => status === 'rejected')).toEqual([]);
    expect(await Promise.all(keys.map((key) => store.size(key)))).toEqual(keys.map(() => 5));
  });

  test('a key with path traversal is rejected', async () => {
    const root = newRoot();
    const store = await openDiskObjectStore(root);
    await writeFile(join(root, 'secret'), 'kept');
    const orphans = [
      '../../secret',
      'a/../../../secret',
      '/etc/passwd',
      'a//b',
      'a/./b',
      '../',
      '',
      'secret',
      './',
      'a/b/..',
      '../x',
    ] as ObjectKey[];
    for (const key of orphans) {
      expect(() => store.localFile?.(key), key).toThrow('not an object key');
      await expect(store.removeAll(key), key).rejects.toThrow('not an object key');
      await expect(store.put(key, source(Buffer.from('x')), 1), key).rejects.toThrow('not an object key');
      await expect(store.putSmall(key, [Buffer.from('x')]), key).rejects.toThrow('not an object key');
      await expect(store.putFile(key, join(root, 'secret')), key).rejects.toThrow('not an object key');
    }
    expect(await readFile(join(root, 'secret'), 'utf8')).toBe('kept');
  });

  test('put deletes its temporary file after success and failure', async () => {
    const root = newRoot();
    const store = await openDiskObjectStore(root);
    const key = originalOf(randomUUID());
    await store.put(key, source(Buffer.from('bytes')), 5);
    await expect(store.put(key, source(Buffer.from('bytes')), 5)).rejects.toMatchObject({ reason: 'exists' });
    await expect(
      store.put(originalOf(randomUUID()), source(randomBytes(3 * MIB)), MIB),
    ).rejects.toMatchObject({ reason: 'too_long' });
    await expect(
      store.put(originalOf(randomUUID()), source(randomBytes(3 * MIB), new Error('gone')), 9 * MIB),
    ).rejects.toMatchObject({ reason: 'cut_short' });
    await store.check();
    expect(await incomingOf(root)).toEqual([]);
  });

  test('a copied file belongs to the service alone; one that cannot be read leaves nothing', async () => {
    const root = newRoot();
    const store = await openDiskObjectStore(root);
    const [key, file] = [variantKey(randomUUID(), 'w640.avif'), join(scratch, 'rendered.avif')];
    await writeFile(file, 'bytes', { mode: 0o666 });
    const own = process.geteuid?.() ?? 0;
    // Only a service that runs as root gives ffmpeg a user of its own.
    if (own === 0) await chown(file, 12_345, 12_345);
    await store.putFile(key, file);
    const { mode, uid, gid } = await stat(store.localFile?.(key) ?? '');
    expect([mode & 0o777, uid, gid]).toEqual([0o600, own, process.getegid?.()]);
    const missing = variantKey(randomUUID(), 'w640.avif');
    await expect(store.putFile(missing, join(scratch, 'missing'))).rejects.toMatchObject({ code: 'ENOENT' });
    expect([await incomingOf(root), await store.size(missing)]).toEqual([[], undefined]);
  });

  test('the folders of an asset are deleted with its last object', async () => {
    const store = await openDiskObjectStore(newRoot());
    const asset = randomUUID();
    const first = renditionKey(asset, '1-1', 'init.mp4');
    for (const key of [first, renditionKey(asset, '2-1', 'init.mp4')])
      await store.put(key, source(Buffer.from('bytes')), 5);
    const folder = join(folderOf(store, first), '..');
    await store.remove(first);
    expect(await readdir(folder)).toEqual(['2-1']);
    await store.removeAll(renditionPrefix(asset, '2-1'));
    expect(await readdir(join(folder, '..'))).toEqual([]);
  });

  test('put creates its folders again when they are deleted concurrently', async () => {
    const store = await openDiskObjectStore(newRoot());
    const asset = randomUUID();
    let putting = true;
    const takeAway = async () => {
      while (putting) await store.removeAll(renditionsPrefix(asset));
    };
    const putOften = async () => {
      for (let round = 0; round < 60; round += 1)
        await store.put(renditionKey(asset, '1-1', `s${round}.m4s`), source(Buffer.from('bytes')), 5);
    };
    const taking = [takeAway(), takeAway(), takeAway()];
    await putOften().finally(() => {
      putting = false;
    });
    await Promise.all(taking);
  });

  test('syncing a deleted folder is no error, syncing a file instead of a folder is', async () => {
    await syncFolder(newRoot());
    await writeFile(join(scratch, 'file'), '');
    await expect(syncFolder(join(scratch, 'file', 'folder'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  test('partial writes are completed in order', async () => {
    const taken: Buffer[] = [];
    const writev = async (chunks: readonly NodeJS.ArrayBufferView[]) => {
      const bytes = Buffer.concat(chunks as Uint8Array[]).subarray(0, 7);
      taken.push(bytes);
      return { bytesWritten: bytes.length, buffers: [] };
    };
    const chunks = [randomBytes(20), new Uint8Array(), randomBytes(1), randomBytes(7), randomBytes(30)];
    await writeFully({ writev } as Parameters<typeof writeFully>[0], chunks);
    expect(Buffer.concat(taken)).toEqual(Buffer.concat(chunks));
  });
});

describe('a disk of 8 MiB', () => {
  let root: string;
  let mounted = false;
  beforeAll(async () => {
    root = newRoot();
    await mkdir(root);
    mounted = tryMount(root);
  });
  afterAll(() => {
    if (mounted) execFileSync('umount', [root]);
  });

  test('rejects an object that does not fit as full, keeps nothing of it, and stores the next one', async ({
    skip,
  }) => {
    skip(!mounted, 'needs the right to mount a tmpfs');
    const store = await openDiskObjectStore(root, { minFreeBytes: 0 });
    const asset = randomUUID();
    const tooMuch = Array.from({ length: 160 }, () => randomBytes(100_000));
    await expect(store.put(originalOf(asset), source(...tooMuch), 99 * MIB)).rejects.toMatchObject({
      reason: 'full',
      cause: { code: 'ENOSPC' },
    });
    await expect(store.putSmall(originalOf(asset), tooMuch)).rejects.toMatchObject({ reason: 'full' });
    expect(await incomingOf(root)).toEqual([]);
    expect(await store.size(originalOf(asset))).toBeUndefined();
    expect(await store.put(originalOf(asset), source(randomBytes(MIB)), MIB)).toMatchObject({
      sizeBytes: MIB,
    });
  });

  test('fails the check when too little space is free', async ({ skip }) => {
    skip(!mounted, 'needs the right to mount a tmpfs');
    const store = await openDiskObjectStore(root);
    await expect(store.check()).rejects.toMatchObject({ reason: 'full' });
  });

  test('rejects objects but allows removal when only the reserve is free', async ({ skip }) => {
    skip(!mounted, 'needs the right to mount a tmpfs');
    const store = await openDiskObjectStore(root, { minFreeBytes: 3 * MIB });
    const [first, second] = [originalOf(randomUUID()), originalOf(randomUUID())];
    await store.put(first, source(randomBytes(4.5 * MIB)), 9 * MIB);
    await expect(store.put(second, source(Buffer.from('small')), MIB)).rejects.toMatchObject({
      reason: 'full',
    });
    const file = join(scratch, 'too-large');
    await writeFile(file, randomBytes(MIB));
    const copy = variantKey(randomUUID(), 'w640.avif');
    await expect(store.putFile(copy, file)).rejects.toMatchObject({ reason: 'full' });
    await expect(store.putSmall(copy, [Buffer.from('small')])).rejects.toMatchObject({ reason: 'full' });
    expect([await incomingOf(root), await store.size(copy)]).toEqual([[], undefined]);
    await store.remove(first);
    await store.putFile(copy, file);
    expect(await store.put(second, source(Buffer.from('small')), MIB)).toMatchObject({ sizeBytes: 5 });
    await expect(store.check()).resolves.toBeUndefined();
  });
});

function tryMount(folder: string): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false; // Many containers forbid it even to root; the tests then say that they were skipped.
  }
}
