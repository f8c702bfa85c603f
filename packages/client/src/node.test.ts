// Files of a disk as blobs: sizes beyond those of Node's own blobs, slices, and files that change.
import { appendFile, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFile } from './node.ts';

const GIB = 2 ** 30;
const TEXT = 'the last bytes';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediary-open-file-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A sparse file, which takes no space: zeros, then the text. */
async function createLarge(name: string, size: number): Promise<string> {
  const path = join(folder, name);
  const handle = await open(path, 'w');
  await handle.write(TEXT, size - TEXT.length);
  await handle.close();
  return path;
}

describe.each([
  ['a small file', 5000],
  ['a file of 3 GiB', 3 * GIB],
  ['a file of 5 GiB', 5 * GIB],
])('%s', (name, size) => {
  test('has its size, and the bytes of each part', async () => {
    const blob = await openFile(await createLarge(name.replaceAll(' ', '-'), size), { type: 'video/mp4' });
    expect([blob instanceof Blob, blob.size, blob.type]).toEqual([true, size, 'video/mp4']);
    expect(await blob.slice(-TEXT.length).text()).toBe(TEXT);
    const end = blob.slice(size - 100, size + 100, 'text/plain');
    expect([end.size, end.type]).toEqual([100, 'text/plain']);
    expect(await end.slice(86, 94).text()).toBe('the last');
    expect(await new Response(end.slice(-5).stream()).text()).toBe('bytes');
    expect(new Uint8Array(await end.slice(0, 2).arrayBuffer())).toEqual(new Uint8Array(2));
    expect(await blob.slice(10, 5).text()).toBe('');
  });
});

test('a file that has changed cannot be read', async () => {
  const path = await createLarge('changed', 3 * GIB);
  const blob = await openFile(path);
  await appendFile(path, 'more');
  await expect(blob.slice(0, 10).arrayBuffer()).rejects.toThrow('was changed after it was opened');
});

test('what is no file is refused', async () => {
  await expect(openFile(join(folder, 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(openFile(folder)).rejects.toThrow('is not a file');
  await writeFile(join(folder, 'empty'), '');
  expect((await openFile(join(folder, 'empty'))).size).toBe(0);
});
