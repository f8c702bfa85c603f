import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openResumeFolder } from './resume-folder.ts';

test('unfinished uploads are remembered apart, readable by their user alone', async () => {
  const home = await mkdtemp(join(tmpdir(), 'mediary-resume-'));
  const store = openResumeFolder({ XDG_STATE_HOME: home });
  await Promise.all([store.setItem('a', 'one'), store.setItem('b', 'two')]);
  expect(await Promise.all(['a', 'b', 'c'].map((key) => store.getItem(key)))).toEqual(['one', 'two', null]);

  const folder = join(home, 'mediary', 'uploads');
  for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);

  await store.removeItem('a');
  expect(await store.getItem('a')).toBeNull();
  await rm(home, { recursive: true });
});
