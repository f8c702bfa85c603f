// The disk keeps the contract of an object store, and what only a disk can get wrong.
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeFully } from './disk/incoming.ts';
import { openDiskObjectStore } from './disk-object-store.ts';
import { type ObjectKey, originalKey, originalPrefix, renditionKey, renditionsPrefix } from './object-key.ts';
import { objectStoreContract } from './object-store.contract.ts';

const MIB = 1024 * 1024;
let scratch: string;
beforeAll(async () => { scratch = await mkdtemp(join(tmpdir(), 'disk-object-store-')); });
afterAll(() => rm(scratch, { recursive: true, force: true }));

const newRoot = () => join(scratch, randomUUID());
const incomingOf = (root: string) => readdir(join(root, 'incoming'));
async function* source(...chunks: (Uint8Array | Error)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) {
    if (chunk instanceof Error) throw chunk;
    yield chunk;
  }
}

objectStoreContract('a disk', () => openDiskObjectStore(newRoot()));

describe('files', () => {
  test('the root is made for its owner alone, and can be opened again with what it holds', async () => {
    const root = join(newRoot(), 'deeper');
    const key = originalKey(randomUUID());
    await (await openDiskObjectStore(root)).put(key, source(Buffer.from('bytes')), 5);
    expect((await stat(root)).mode & 0o777).toBe(0o700);
    expect(await (await openDiskObjectStore(root)).size(key)).toBe(5);
  });

  test('an object is a file on this machine', async () => {
    const root = newRoot();
    const store = await openDiskObjectStore(root);
    const key = originalKey(randomUUID());
    await store.put(key, source(Buffer.from('bytes')), 5);
    const path = store.localFile?.(key) ?? '';
    expect(path.startsWith(join(root, 'objects'))).toBe(true);
    expect(await readFile(path, 'utf8')).toBe('bytes');
  });

  test('a key that would lead out of the root is refused, whoever made it', async () => {
    const root = newRoot();
    const store = await openDiskObjectStore(root);
    await writeFile(join(root, 'secret'), 'kept');
    const strays = ['../../secret', 'a/../../../secret', '/etc/passwd', 'a//b', 'a/./b', '../', '', 'secret', './', 'a/b/..', '../x'] as ObjectKey[];
    for (const key of strays) {
      expect(() => store.localFile?.(key), key).toThrow('not an object key');
      await expect((async () => store.removeAll(key))(), key).rejects.toThrow('not an object key');
      await expect((async () => store.put(key, source(Buffer.from('x')), 1))(), key).rejects.toThrow('not an object key');
    }
    expect(await readFile(join(root, 'secret'), 'utf8')).toBe('kept');
  });

  test('no temporary file outlives its put, whatever came of it', async () => {
    const root = newRoot();
    const store = await openDiskObjectStore(root);
    const key = originalKey(randomUUID());
    await store.put(key, source(Buffer.from('bytes')), 5);
    await expect(store.put(key, source(Buffer.from('bytes')), 5)).rejects.toMatchObject({ reason: 'exists' });
    await expect(store.put(originalKey(randomUUID()), source(randomBytes(3 * MIB)), MIB)).rejects.toMatchObject({ reason: 'too_long' });
    await expect(store.put(originalKey(randomUUID()), source(randomBytes(3 * MIB), new Error('gone')), 9 * MIB)).rejects.toMatchObject({ reason: 'cut_short' });
    await store.check();
    expect(await incomingOf(root)).toEqual([]);
  });

  test('the folders of an asset go with its last object', async () => {
    const store = await openDiskObjectStore(newRoot());
    const asset = randomUUID();
    const keys = ['1-1', '2-1'].map((folder) => renditionKey(asset, folder, 'init.mp4'));
    for (const key of [...keys, originalKey(asset)]) await store.put(key, source(Buffer.from('bytes')), 5);
    const folder = join(store.localFile?.(keys[0] as ObjectKey) ?? '', '..', '..');
    await store.remove(keys[0] as ObjectKey);
    expect(await readdir(folder)).toEqual(['2-1']);
    await store.removeAll(renditionsPrefix(asset));
    await store.removeAll(originalPrefix(asset));
    await expect(stat(folder)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await readdir(join(folder, '..', '..', 'originals'))).toEqual([]);
  });

  test('a disk that takes a few bytes at a time gets them all, in order', async () => {
    const taken: Buffer[] = [];
    const writev = async (chunks: readonly NodeJS.ArrayBufferView[]) => {
      const bytes = Buffer.concat(chunks as Uint8Array[]).subarray(0, 7);
      taken.push(bytes);
      return { bytesWritten: bytes.length, buffers: [] };
    };
    const chunks = [randomBytes(20), new Uint8Array(), randomBytes(1), randomBytes(7), randomBytes(30)];
    await writeFully({ writev } as unknown as Parameters<typeof writeFully>[0], chunks);
    expect(Buffer.concat(taken)).toEqual(Buffer.concat(chunks));
  });
});

describe('leftovers', () => {
  const DEAD_WRITER = `
    const { openDiskObjectStore } = await import(process.argv[1]);
    const store = await openDiskObjectStore(process.argv[2]);
    async function* stuck() { for (let i = 0; i < 40; i++) yield Buffer.alloc(65536); console.log('halfway'); await new Promise(() => setInterval(() => {}, 1000)); }
    await store.put('originals/' + crypto.randomUUID() + '/original', stuck(), 1e9);`;
  const startWriter = async (root: string) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', DEAD_WRITER, join(import.meta.dirname, 'disk-object-store.ts'), root], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    return child;
  };

  test('of a killed process are swept at the next start, those of a live one are left alone', async () => {
    const root = newRoot();
    const writers = await Promise.all([startWriter(root), startWriter(root)]);
    await openDiskObjectStore(root);
    expect(await incomingOf(root)).toHaveLength(2);
    writers[0]?.kill('SIGKILL');
    await once(writers[0] as NodeJS.EventEmitter, 'exit');
    await openDiskObjectStore(root);
    const left = await incomingOf(root);
    writers[1]?.kill('SIGKILL');
    expect(left).toHaveLength(1);
    expect(left[0]).toContain(`-${writers[1]?.pid}-`);
  });

  test('of a put that runs in this very process are left alone', async () => {
    const root = newRoot();
    const store = await openDiskObjectStore(root);
    const key = originalKey(randomUUID());
    async function* slow() {
      yield randomBytes(2 * MIB);
      await openDiskObjectStore(root);
      yield randomBytes(1);
    }
    await store.put(key, slow(), 3 * MIB);
    expect(await store.size(key)).toBe(2 * MIB + 1);
  });

  test('of machines that cannot be asked are swept after a day', async () => {
    const root = newRoot();
    const incoming = join(root, 'incoming');
    await mkdir(incoming, { recursive: true });
    const longAgo = Date.now() / 1000 - 25 * 60 * 60;
    for (const name of ['unknown_old', 'unknown_new', `${'0'.repeat(16)}-999999999-5_old`, `${'0'.repeat(16)}-999999999-5_new`]) {
      await writeFile(join(incoming, name), 'half');
      if (name.endsWith('old')) await utimes(join(incoming, name), longAgo, longAgo);
    }
    await openDiskObjectStore(root);
    expect((await incomingOf(root)).sort()).toEqual([`${'0'.repeat(16)}-999999999-5_new`, 'unknown_new']);
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
  afterAll(() => { if (mounted) execFileSync('umount', [root]); });

  test('refuses what does not fit as full, keeps nothing of it, and goes on', async ({ skip }) => {
    skip(!mounted, 'needs the right to mount a tmpfs');
    const store = await openDiskObjectStore(root);
    const asset = randomUUID();
    const tooMuch = Array.from({ length: 160 }, () => randomBytes(100_000));
    await expect(store.put(originalKey(asset), source(...tooMuch), 99 * MIB)).rejects.toMatchObject({ reason: 'full', cause: { code: 'ENOSPC' } });
    expect(await incomingOf(root)).toEqual([]);
    expect(await store.size(originalKey(asset))).toBeUndefined();
    expect(await store.put(originalKey(asset), source(randomBytes(MIB)), MIB)).toMatchObject({ sizeBytes: MIB });
  });

  test('does not pass the check: too little is free', async ({ skip }) => {
    skip(!mounted, 'needs the right to mount a tmpfs');
    const store = await openDiskObjectStore(root);
    await expect(store.check()).rejects.toThrow('64 MiB');
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
