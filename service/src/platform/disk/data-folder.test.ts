// Tests the permissions of the data folder.
import { chmod, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { chownSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { restrictDataFolder, restrictFolders, restrict } from './data-folder.ts';

const AS_ROOT = process.getuid?.() === 0;
const made: string[] = [];
afterEach(() => Promise.all(made.splice(0).map((folder) => rm(folder, { recursive: true, force: true }))));

async function newFolder(mode = 0o755): Promise<string> {
  const folder = realpathSync(await mkdtemp(join(tmpdir(), 'mediary-test-')));
  await chmod(folder, mode);
  made.push(folder);
  return folder;
}
const modeOf = async (path: string) => (await stat(path)).mode & 0o7777;

async function withCluster(folder: string): Promise<string> {
  const cluster = join(folder, 'postgres');
  await mkdir(cluster, { mode: 0o700 });
  return cluster;
}

test('permissions are removed, and never added', async () => {
  const folder = await newFolder(0o755);
  expect(await restrict(folder, 0o700)).toBe('restricted');
  expect(await modeOf(folder)).toBe(0o700);
  await chmod(folder, 0o500);
  expect(await restrict(folder, 0o700)).toBe('unchanged');
  expect(await modeOf(folder)).toBe(0o500);
});

describe('the data folder', () => {
  test('is restricted when the cluster belongs to the same user', async () => {
    const folder = await newFolder();
    const cluster = await withCluster(folder);
    await writeFile(join(folder, 'secrets.json'), '{}');
    expect(await restrictDataFolder(folder, cluster)).toEqual([]);
    expect(await modeOf(folder)).toBe(0o700);
  });

  test.runIf(AS_ROOT)("can be traversed only by the group of the cluster's owner", async () => {
    const folder = await newFolder();
    const cluster = await withCluster(folder);
    chownSync(cluster, 4321, 1234);
    expect(await restrictDataFolder(folder, cluster)).toEqual([]);
    expect(await modeOf(folder)).toBe(0o710);
    expect(await stat(folder)).toMatchObject({ uid: 0, gid: 1234 });
  });

  test('is restricted together with the folder of a cluster elsewhere', async () => {
    const [folder, elsewhere] = [await newFolder(), await newFolder()];
    await symlink(await withCluster(elsewhere), join(folder, 'postgres'));
    expect(await restrictDataFolder(folder, join(folder, 'postgres'))).toEqual([]);
    expect([await modeOf(folder), await modeOf(elsewhere)]).toEqual([0o700, 0o700]);
  });

  test('without an own cluster stays traversable', async () => {
    const [open, closed] = [await newFolder(0o777), await newFolder(0o700)];
    expect([await restrictDataFolder(open, undefined), await restrictDataFolder(closed, undefined)]).toEqual([
      [],
      [],
    ]);
    expect([await modeOf(open), await modeOf(closed)]).toEqual([0o711, 0o700]);
  });

  test.each([
    ['holds files of others', 0o755, 'letters.txt'],
    ['is shared by design', 0o1777, 'objects'],
  ])('that %s stays as it is, with a warning', async (_what, mode, entry) => {
    const folder = await newFolder(mode);
    const cluster = await withCluster(folder);
    await writeFile(join(folder, entry), '');
    expect(await restrictDataFolder(folder, cluster)).toEqual([
      expect.stringContaining(`DATA_DIR ${folder} is open to other users`),
    ]);
    expect(await modeOf(folder)).toBe(mode);
  });

  test('that does not exist yet is ignored', async () => {
    expect(await restrictDataFolder(join(await newFolder(), 'missing'), undefined)).toEqual([]);
  });
});

test('own folders are restricted inside a shared one; missing ones are ignored', async () => {
  const folder = await newFolder();
  await mkdir(join(folder, 'objects'), { mode: 0o755 });
  await restrictFolders(folder, ['objects', 'incoming']);
  expect([await modeOf(folder), await modeOf(join(folder, 'objects'))]).toEqual([0o755, 0o700]);
});
