// Which paths an upload may read.
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolveBelowRoot } from './root-folder.ts';

let base: string;
let root: string;
beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'mediary-root-')));
  root = join(base, 'root');
  await mkdir(join(root, 'sub'), { recursive: true });
  await mkdir(join(base, 'root-beside'));
  for (const path of ['root/a.png', 'root/sub/..b.png', 'root-beside/c.png', 'd.png'])
    await writeFile(join(base, path), '');
  await symlink(root, join(base, 'link-to-root'));
  await symlink('../d.png', join(root, 'out.png'));
  await symlink('..', join(root, 'up'));
  await symlink('sub/..b.png', join(root, 'in.png'));
});
afterAll(() => rm(base, { recursive: true }));

test('files below the root are read, also through links that stay inside', async () => {
  expect(await resolveBelowRoot(root, 'a.png')).toBe(join(root, 'a.png'));
  expect(await resolveBelowRoot(root, 'sub/../a.png')).toBe(join(root, 'a.png'));
  expect(await resolveBelowRoot(root, 'sub/..b.png')).toBe(join(root, 'sub/..b.png'));
  expect(await resolveBelowRoot(root, 'in.png')).toBe(join(root, 'sub/..b.png'));
});

test('a root that is a link names the same files, relative and absolute', async () => {
  const link = join(base, 'link-to-root');
  expect(await resolveBelowRoot(link, 'a.png')).toBe(join(root, 'a.png'));
  expect(await resolveBelowRoot(link, join(link, 'a.png'))).toBe(join(root, 'a.png'));
  expect(await resolveBelowRoot(link, join(root, 'a.png'))).toBe(join(root, 'a.png'));
});

test.each([
  '../d.png',
  'sub/../../d.png',
  'out.png',
  'up/d.png',
  '../root-beside/c.png',
  '/etc/hostname',
  '../missing.png',
])('%s is outside', async (path) => {
  await expect(resolveBelowRoot(root, path)).rejects.toMatchObject({
    errorCode: 'PATH_REFUSED',
    message: `${path} is outside of the folder that uploads may read.`,
  });
});

test.each([
  ['missing.png', 'does not exist'],
  ['sub', 'is not a file'],
  ['.', 'is outside'],
  ['a.png\0', 'does not exist'],
])('%j %s', async (path, reason) => {
  await expect(resolveBelowRoot(root, path)).rejects.toThrow(reason);
});
