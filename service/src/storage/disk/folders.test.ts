// Tests that folders are created whatever others create at the same time.
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder } from './folders.ts';

async function newRoot(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'mediary-folders-'));
  onTestFinished(() => rm(root, { recursive: true }));
  return root;
}

test('folders below one that others create meanwhile exist afterwards', async () => {
  const root = await newRoot();
  const names = Array.from({ length: 50 }, (_, name) => String(name));
  await Promise.all(
    names.flatMap((name) => [
      makeFolder(join(root, name, 'objects', 'incoming')),
      mkdir(join(root, name, 'objects'), { recursive: true }),
      makeFolder(join(root, name, 'objects', 'partial')),
    ]),
  );
  for (const name of names)
    expect((await readdir(join(root, name, 'objects'))).sort()).toEqual(['incoming', 'partial']);
});

test('the folders with a new entry are returned, for the caller to sync', async () => {
  const root = await newRoot();
  const folder = join(root, 'a', 'b');
  expect(await makeFolder(folder)).toEqual([root, dirname(folder)]);
  expect(await makeFolder(folder)).toEqual([]);
});
