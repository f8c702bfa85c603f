// Tests that failed writes of private files leave no copy.
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writePrivateFile } from './private-file.ts';

test('a file that cannot be replaced leaves no copy of its secrets', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-private-'));
  await mkdir(join(folder, 'config.json', 'in-the-way'), { recursive: true });
  await expect(writePrivateFile(join(folder, 'config.json'), 'secret')).rejects.toThrow();
  expect(await readdir(folder)).toEqual(['config.json']);
  await rm(folder, { recursive: true });
});
