// Scratch space ends with its work: by the turn that takes over, or when nobody is left who could need it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { isGone, getProcessMark } from './process-mark.ts';
import { makeScratch, removeScratch, sweepScratch } from './scratch-folder.ts';

const folders: string[] = [];
let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'scratch-'));
  folders.push(root);
});
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

const LONG_AGO = Date.now() / 1000 - 25 * 3600;

/** Another process, which says its mark and lives until it is killed. */
async function stranger(): Promise<{ mark: string; kill(): Promise<void> }> {
  const script = `const { processMark } = await import(process.argv[1]); console.log(await processMark()); setInterval(() => {}, 1000);`;
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', script, join(import.meta.dirname, 'process-mark.ts')],
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

test('a turn takes over the place of earlier turns at the same work, and leaves other work alone', async () => {
  const first = await makeScratch(root, { work: 'film', turn: '1-1' });
  const other = await makeScratch(root, { work: 'other', turn: '1-1' });
  await mkdir(join(root, '0000000000000000-1-1.film.1-0'));
  const second = await makeScratch(root, { work: 'film', turn: '1-2' });
  expect((await readdir(root)).map((name) => join(root, name)).sort()).toEqual([other, second].sort());
  await removeScratch(first);
  await removeScratch(second);
  expect(await readdir(root)).toHaveLength(1);
});

describe('the sweep', () => {
  test('leaves what is in use', async () => {
    const mine = await makeScratch(root, { work: 'film', turn: '1-1' });
    await sweepScratch(root);
    expect(await readdir(root)).toEqual([mine.slice(root.length + 1)]);
  });

  test.runIf(process.platform === 'linux')(
    'removes what a process left that is gone, not what a living one holds',
    async () => {
      const [dead, living] = [await stranger(), await stranger()];
      for (const { mark } of [dead, living]) await mkdir(join(root, `${mark}.film.1-1`));
      await sweepScratch(root);
      expect(await readdir(root)).toHaveLength(2);
      await dead.kill();
      await sweepScratch(root);
      expect(await readdir(root)).toEqual([`${living.mark}.film.1-1`]);
    },
  );

  test('removes what processes of other machines left untouched for a day', async () => {
    const [left, used] = ['unknown.left.1-1', '0000000000000000-1-1.used.1-1'];
    for (const name of [left, used]) {
      await mkdir(join(root, name, 'work'), { recursive: true });
      await utimes(join(root, name), LONG_AGO, LONG_AGO);
    }
    await utimes(join(root, left, 'work'), LONG_AGO, LONG_AGO);
    await sweepScratch(root);
    expect(await readdir(root)).toEqual([used]);
  });

  test('makes the folder where there is none', async () => {
    await sweepScratch(join(root, 'new'));
    expect(await readdir(join(root, 'new'))).toEqual([]);
  });
});

test.runIf(process.platform === 'linux')(
  'a number that another process has by now does not hide that its owner is gone',
  async () => {
    const mark = await getProcessMark();
    expect(await isGone(mark)).toBe(false);
    expect(await isGone(mark.replace(/\d+$/, '1'))).toBe(true);
    expect(await isGone(mark.replace(/^.{16}/, '0'.repeat(16)))).toBe(false);
  },
);
