// A folder as a backup target: the contract of the port, and what only folders have.
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { inChunks } from '../object-store.fixture.ts';
import { backupTargetContract } from './backup-target.contract.ts';
import { openFolderBackupTarget } from './folder-backup-target.ts';

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-target-'));
  folders.push(folder);
  return folder;
}

backupTargetContract('a folder', {
  open: async () => openFolderBackupTarget(join(await newFolder(), 'not/yet/there')),
  openAgain: ({ location }) => openFolderBackupTarget(location),
});

const none = new AbortController().signal;

test('only the owner of the process reads files, and empty folders go with the last file', async () => {
  const root = await newFolder();
  const target = openFolderBackupTarget(root);
  const path = 'objects/originals/a/b';
  await target.write({ path, sizeBytes: 1 }, inChunks(Buffer.from('x'), 1));
  expect((await stat(join(root, path))).mode & 0o777).toBe(0o600);
  expect((await stat(join(root, 'objects/originals'))).mode & 0o777).toBe(0o700);
  await target.remove([path]);
  expect(await readdir(join(root, 'objects'))).toEqual([]);
});

test('what a killed process was writing is deleted later, and never listed', async () => {
  const root = await newFolder();
  const target = openFolderBackupTarget(root);
  // Of an indexing service.
  await mkdir(join(root, 'incoming/@eaDir'), { recursive: true });
  for (const name of ['old', 'new']) await writeFile(join(root, 'incoming', name), 'half of a file');
  for (const name of ['old', '@eaDir']) await utimes(join(root, 'incoming', name), 0, 0);
  await (await target.lock(none)).release();
  // Another process may still be writing the newer one.
  expect((await readdir(join(root, 'incoming'))).sort()).toEqual(['@eaDir', 'new']);
});
