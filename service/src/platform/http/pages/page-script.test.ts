// Tests that a script is served after its first read has failed.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { openPackageScript, versionOf } from './page-script.ts';

test('a script whose first read failed is read again, and then kept', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-script-'));
  const file = join(folder, 'player.js');
  const readScript = openPackageScript(String(pathToFileURL(file)));
  await expect(readScript()).rejects.toThrow('ENOENT');
  await writeFile(file, 'play();');
  expect(await readScript()).toMatchObject({ version: versionOf('play();') });
  await rm(folder, { recursive: true });
  expect(await readScript()).toMatchObject({ version: versionOf('play();') });
});
