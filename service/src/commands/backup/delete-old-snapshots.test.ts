// Retention: old snapshots go, with exactly the files that no kept snapshot needs.
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BackupTarget } from '../../storage/backup-target.ts';
import { openFolderBackupTarget } from '../../storage/backup/folder-backup-target.ts';
import { databasePath, listStored, objectPath, writeBytes } from './backup-files.ts';
import {
  listSnapshotNames,
  readSnapshotFiles,
  type SnapshotFiles,
  writeSnapshot,
} from './backup-snapshot.ts';
import { deleteOldSnapshots } from './delete-old-snapshots.ts';

let root: string;
let target: BackupTarget;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'mediary-retention-'));
  target = openFolderBackupTarget(root);
});
afterAll(() => rm(root, { recursive: true, force: true }));

const fileOf = (path: string, content: string) => ({
  path,
  sizeBytes: content.length,
  sha256: createHash('sha256').update(content).digest('hex'),
});

async function storeUnlessThere(path: string, content: string): Promise<void> {
  const write = writeBytes(target, path, Buffer.from(content));
  await write.catch((error: Error) => expect(error).toMatchObject({ reason: 'exists' }));
}

/** A day of November with these objects, and a log that begins at this file. */
async function addSnapshot(day: number, objects: readonly string[]): Promise<void> {
  const time = `2026-11-${day}T00-00-00Z`;
  const log = `pg_wal/0000000100000000000000${day}`;
  const files: SnapshotFiles = {
    folders: ['pg_wal'],
    endsAt: '0/0',
    database: [fileOf('PG_VERSION', '18'), fileOf(log, `log of ${day}`)],
    secrets: fileOf('secrets.json', 'secrets of all days'),
    objects: objects.map((name) => fileOf(`originals/${name}`, name)),
  };
  for (const content of ['18', `log of ${day}`, 'secrets of all days'])
    await storeUnlessThere(databasePath(fileOf('', content)), content);
  for (const name of objects) await storeUnlessThere(objectPath({ path: `originals/${name}` }), name);
  await storeUnlessThere(`log/0000000100000000000000${day}.gz`, 'compressed');
  await writeSnapshot(target, { name: time, finishedAt: `2026-11-${day}T01:00:00.000Z` }, files);
}

const objectsStored = async () =>
  [...(await listStored(target)).keys()].filter((path) => path.startsWith('objects/')).sort();
const logFiles = async () => {
  const paths: string[] = [];
  for await (const { path } of target.list('log')) paths.push(path);
  return paths.sort();
};

test('the snapshot from which the oldest moment is restored is kept, with all that it needs', async () => {
  await addSnapshot(20, ['first', 'shared', 'deleted']);
  await addSnapshot(21, ['shared', 'second']);
  await addSnapshot(22, ['shared', 'third']);
  await storeUnlessThere('objects/originals/unfinished', 'of a killed backup');
  const since = new Date('2026-11-21T12:00:00Z');
  const deleted = await deleteOldSnapshots(target, await listStored(target), { since });
  expect(deleted).toEqual({ deletedSnapshots: 1, deletedObjects: 3 });
  expect(await listSnapshotNames(target)).toEqual(['2026-11-21T00-00-00Z', '2026-11-22T00-00-00Z']);
  expect(await objectsStored()).toEqual(
    ['second', 'shared', 'third'].map((name) => `objects/originals/${name}`),
  );
  expect(await logFiles()).toEqual([21, 22].map((day) => `log/0000000100000000000000${day}.gz`));
  const stored = await listStored(target);
  const paths = ['18', 'secrets of all days', 'log of 21', 'log of 20'].map((content) =>
    stored.has(databasePath(fileOf('', content))),
  );
  expect(paths).toEqual([true, true, true, false]);
});

test('a list of files that cannot be read keeps everything', async () => {
  await addSnapshot(23, ['shared', 'fourth']);
  const before = await objectsStored();
  await writeFile(join(root, 'listings/2026-11-23T00-00-00Z.json.gz'), 'damaged');
  await expect(deleteOldSnapshots(target, await listStored(target), { last: 1 })).rejects.toThrow(
    '2026-11-23T00-00-00Z.json.gz is damaged',
  );
  expect(await objectsStored()).toEqual(before);
  expect(await listSnapshotNames(target)).toHaveLength(3);
});

test('a list that names files outside of the database is refused', async () => {
  const name = '2026-11-24T00-00-00Z';
  const files = { folders: [], endsAt: '0/0', secrets: undefined, objects: [] };
  const database = [fileOf('base/../../../etc/cron.d/mine', 'x')];
  const snapshot = await writeSnapshot(target, { name, finishedAt: name }, { ...files, database });
  await expect(readSnapshotFiles(target, snapshot)).rejects.toThrow('is not a file of a database');
});
