// Tests that scratch folders are deleted by the next run of the same work, or at start.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  hasProcessExited,
  getProcessMark,
  createScratchFolder,
  deleteScratchFolder,
  deleteAbandonedScratchFolders,
} from './scratch-folder.ts';

const folders: string[] = [];
let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'scratch-'));
  folders.push(root);
});
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

const LONG_AGO = Date.now() / 1000 - 25 * 3600;

/** Starts a process that prints its mark and runs until it is killed. */
async function stranger(): Promise<{ mark: string; kill(): Promise<void> }> {
  const script = `
    const { getProcessMark } = await import(process.argv[1]);
    console.log(await getProcessMark());
    setInterval(() => {}, 1000);`;
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', script, join(import.meta.dirname, 'scratch-folder.ts')],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = await once(child.stdout, 'data');
  return {
    mark: String(line).trim(),
    kill: async () => {
      await Promise.all([once(child, 'exit'), child.kill('SIGKILL')]);
    },
  };
}

test('a run deletes the folders of earlier runs of the same work only', async () => {
  const first = await createScratchFolder(root, { work: 'film', run: '1-1' });
  const other = await createScratchFolder(root, { work: 'other', run: '1-1' });
  await mkdir(join(root, '0000000000000000-1-1.film.1-0'));
  const second = await createScratchFolder(root, { work: 'film', run: '1-2' });
  expect((await readdir(root)).map((name) => join(root, name)).sort()).toEqual([other, second].sort());
  await deleteScratchFolder(first);
  await deleteScratchFolder(second);
  expect(await readdir(root)).toHaveLength(1);
});

describe('deleteAbandonedScratchFolders', () => {
  test('does not delete folders in use', async () => {
    const mine = await createScratchFolder(root, { work: 'film', run: '1-1' });
    await deleteAbandonedScratchFolders(root);
    expect(await readdir(root)).toEqual([mine.slice(root.length + 1)]);
  });

  test.runIf(process.platform === 'linux')(
    'deletes the folders of an exited process, not those of a running one',
    async () => {
      const [dead, living] = [await stranger(), await stranger()];
      for (const { mark } of [dead, living]) await mkdir(join(root, `${mark}.film.1-1`));
      await deleteAbandonedScratchFolders(root);
      expect(await readdir(root)).toHaveLength(2);
      await dead.kill();
      await deleteAbandonedScratchFolders(root);
      expect(await readdir(root)).toEqual([`${living.mark}.film.1-1`]);
    },
  );

  test('deletes folders of other machines that have not changed for a day', async () => {
    const [left, used] = ['unknown.left.1-1', '0000000000000000-1-1.used.1-1'];
    for (const name of [left, used]) {
      await mkdir(join(root, name, 'work'), { recursive: true });
      await utimes(join(root, name), LONG_AGO, LONG_AGO);
    }
    await utimes(join(root, left, 'work'), LONG_AGO, LONG_AGO);
    await deleteAbandonedScratchFolders(root);
    expect(await readdir(root)).toEqual([used]);
  });

  test('creates the root folder if it is missing', async () => {
    await deleteAbandonedScratchFolders(join(root, 'new'));
    expect(await readdir(join(root, 'new'))).toEqual([]);
  });
});

test.runIf(process.platform === 'linux')(
  'a reused process id does not count as the original process',
  async () => {
    const mark = await getProcessMark();
    expect(await hasProcessExited(mark)).toBe(false);
    expect(await hasProcessExited(mark.replace(/\d+$/, '1'))).toBe(true);
    expect(await hasProcessExited(mark.replace(/^.{16}/, '0'.repeat(16)))).toBe(false);
  },
);
