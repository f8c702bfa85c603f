// The progress of a backup: what a killed process has to send again is bounded.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openFolderBackupTarget } from '../../storage/backup/folder-backup-target.ts';
import { deleteProgress, readProgress, startProgress } from './backup-progress.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'mediary-progress-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

test('every 500 objects are recorded, of all unfinished backups, until they are deleted', async () => {
  const target = openFolderBackupTarget(root);
  const objectOf = (number: number) => ({ path: `originals/${number}`, sizeBytes: number, sha256: 'ab' });
  const [first, second] = [startProgress(target, 'first'), startProgress(target, 'second')];
  for (let number = 0; number < 499; number += 1) await first.add(objectOf(number));
  expect(await readProgress(target)).toEqual([]);
  await first.add(objectOf(499));
  await first.add(objectOf(500));
  await second.add(objectOf(501));
  await second.record();
  await second.record();
  const recorded = await readProgress(target);
  expect(recorded).toHaveLength(501);
  expect(recorded).toContainEqual(objectOf(499));
  expect(recorded).not.toContainEqual(objectOf(500));
  await deleteProgress(target);
  expect(await readProgress(target)).toEqual([]);
});
