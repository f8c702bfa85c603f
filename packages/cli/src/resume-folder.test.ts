// Tests how unfinished uploads are remembered in a folder.
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openResumeFolder } from './resume-folder.ts';

test('unfinished uploads are remembered apart, readable by their user alone', async () => {
  const home = await mkdtemp(join(tmpdir(), 'mediary-resume-'));
  const store = openResumeFolder({ XDG_STATE_HOME: home }, (error) => {
    throw error;
  });
  await Promise.all([store.setItem('a', 'one'), store.setItem('b', 'two')]);
  expect(await Promise.all(['a', 'b', 'c'].map((key) => store.getItem(key)))).toEqual(['one', 'two', null]);

  const folder = join(home, 'mediary', 'uploads');
  for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);

  await store.removeItem('a');
  expect(await store.getItem('a')).toBeNull();
  await rm(home, { recursive: true });
});

test('the first error of a folder that cannot be used is reported', async () => {
  const home = await mkdtemp(join(tmpdir(), 'mediary-resume-'));
  await writeFile(join(home, 'mediary'), 'a file in place of the folder');
  const errors: string[] = [];
  const store = openResumeFolder({ XDG_STATE_HOME: home }, ({ message }) => errors.push(message));
  expect(await store.getItem('a')).toBeNull();
  await expect(store.setItem('a', 'one')).rejects.toThrow();
  await expect(store.setItem('a', 'two')).rejects.toThrow();
  expect(errors).toEqual([expect.stringMatching(/ENOTDIR|EEXIST/)]);
  await rm(home, { recursive: true });
});
