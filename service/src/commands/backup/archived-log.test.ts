// The archived log of a backup: written once, read back, and its gaps are found.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { BackupTarget } from '../../storage/backup-target.ts';
import { openFolderBackupTarget } from '../../storage/backup/folder-backup-target.ts';
import {
  deleteArchivedBefore,
  findDamagedLog,
  isLogContinuous,
  writeArchived,
  writeLogFiles,
} from './archived-log.ts';

const folders: string[] = [];
let target: BackupTarget;
let root: string;
beforeEach(async () => {
  root = await newFolder();
  target = openFolderBackupTarget(root);
});
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-log-'));
  folders.push(folder);
  return folder;
}

const segment = (low: string, high = '00000000', timeline = '00000001') => `${timeline}${high}000000${low}`;

async function archive(name: string, content = name): Promise<void> {
  const path = join(await newFolder(), name);
  await writeFile(path, content);
  await writeArchived(target, { name, path });
}

test('the same file again changes nothing, and that of another server is refused', async () => {
  await archive(segment('01'));
  await archive(segment('01'));
  await expect(archive(segment('01'), 'of another server')).rejects.toThrow('is the log of another server');
});

test('a copy gets the files from its own on, and all histories of timelines', async () => {
  const names = [segment('01'), segment('02'), segment('03', '00000000', '00000002'), '00000002.history'];
  for (const name of names) await archive(name);
  const folder = await newFolder();
  await writeLogFiles(target, segment('02'), folder);
  expect((await readdir(folder)).sort()).toEqual(
    names
      .slice(1)
      .map((name) => `${name}.gz`)
      .sort(),
  );
  expect(gunzipSync(await readFile(join(folder, `${segment('02')}.gz`))).toString()).toBe(segment('02'));
  expect(await deleteArchivedBefore(target, [segment('02')])).toBe(1);
  expect(await readdir(join(root, 'log'))).toHaveLength(3);
});

test('damaged files and gaps are found, also where the number of a file overflows', async () => {
  for (const name of [segment('FE'), segment('FF'), segment('00', '00000001')]) await archive(name);
  expect(await findDamagedLog(target, segment('FE'))).toEqual([]);
  const last = segment('02', '00000001');
  await archive(last);
  await writeFile(join(root, 'log', `${last}.gz`), 'damaged');
  expect(await findDamagedLog(target, segment('FE'))).toEqual([
    join(root, 'log', `${last}.gz`),
    join(root, 'log', `${segment('01', '00000001')}.gz`),
  ]);
  // What only older copies need does not count.
  expect(await findDamagedLog(target, segment('03', '00000001'))).toEqual([]);
});

test('the log continues a copy where it has no gap, and is on the timeline of the copy', async () => {
  const first = segment('02');
  for (const name of [segment('01'), segment('03')]) await archive(name);
  expect(await isLogContinuous(target, first)).toBe(false);
  await archive(first);
  expect(await isLogContinuous(target, first)).toBe(true);
  await archive(segment('05'));
  expect(await isLogContinuous(target, first)).toBe(false);
  await archive(segment('04'));
  expect(await isLogContinuous(target, first)).toBe(true);
  // Of a server that was restored from the copy.
  const restored = segment('03', '00000000', '00000002');
  await archive(restored);
  expect(await isLogContinuous(target, first)).toBe(false);
  expect(await isLogContinuous(target, restored)).toBe(true);
});

test('the log of a server that was restored to before other copies is kept and checked', async () => {
  const restored = (low: string) => segment(low, '00000000', '00000002');
  const names = ['01', '02', '03', '04', '05', '06'].map((low) => segment(low));
  for (const name of [...names, restored('02'), restored('04')]) await archive(name);
  const missing = join(root, 'log', `${restored('03')}.gz`);
  expect(await findDamagedLog(target, restored('02'))).toEqual([missing]);
  await archive(restored('03'));
  expect(await findDamagedLog(target, restored('02'))).toEqual([]);
  // The newest copy is of before the restore.
  expect(await isLogContinuous(target, segment('05'))).toBe(false);
  expect(await deleteArchivedBefore(target, [segment('05'), restored('02')])).toBe(1);
  expect(await findDamagedLog(target, restored('02'))).toEqual([]);
});

test('a damaged file is written again where the server still has it', async () => {
  await archive(segment('01'));
  const path = join(root, 'log', `${segment('01')}.gz`);
  await writeFile(path, 'damaged');
  await archive(segment('01'));
  expect(gunzipSync(await readFile(path)).toString()).toBe(segment('01'));
});
