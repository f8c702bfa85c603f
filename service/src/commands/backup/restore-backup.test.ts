// Restores of a backup whose log has several timelines: each restored server begins one.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newFolder, query, start } from '@mediary/embedded-postgres/launcher.fixture';
import type { EmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { archiveLog, keepLog } from '@mediary/embedded-postgres/log-archive';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BackupTarget } from '../../storage/backup-target.ts';
import { openFolderBackupTarget } from '../../storage/backup/folder-backup-target.ts';
import { openDiskObjectStore } from '../../storage/disk-object-store.ts';
import { originalPrefix, uploadKey } from '../../storage/object-key.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { isLogContinuous, writeArchived } from './archived-log.ts';
import { getSnapshot, type Snapshot } from './backup-snapshot.ts';
import { createBackup } from './create-backup.ts';
import { restoreBackup } from './restore-backup.ts';

let root: string;
let target: BackupTarget;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'mediary-restore-'));
  target = openFolderBackupTarget(root);
});
afterAll(() => rm(root, { recursive: true, force: true }));

type BackedUp = { readonly dataDir: string; readonly store: ObjectStore; readonly server: EmbeddedPostgres };

const openStore = (dataDir: string) => openDiskObjectStore(join(dataDir, 'objects'), { minFreeBytes: 0 });

const archive = (server: EmbeddedPostgres) => archiveLog(server, (file) => writeArchived(target, file));

/** Adds a row to the database and to the archived log; returns the next millisecond. */
async function add({ server }: BackedUp, number: number): Promise<Date> {
  await query(server, 'insert into note values ($1)', [number]);
  const [row] = await query(server, 'select clock_timestamp() as now');
  await archive(server);
  return new Date((row as { now: Date }).now.getTime() + 1);
}

async function backUp(source: BackedUp): Promise<Snapshot> {
  const { signal } = new AbortController();
  return (await createBackup({ ...source, minFreeBytes: 0, now: () => new Date(), signal }, target)).snapshot;
}

async function restore(time: Date | 'latest'): Promise<BackedUp & { readonly numbers: number[] }> {
  const dataDir = newFolder();
  const store = await openStore(dataDir);
  await restoreBackup({ dataDir, store }, target, { time });
  const server = await start(dataDir);
  const rows = await query(server, 'select number from note order by number');
  return { dataDir, store, server, numbers: rows.map((row) => row['number'] as number) };
}

test('a moment is found on its timeline, also on one that has no snapshot yet', async () => {
  const dataDir = newFolder();
  const first = { dataDir, store: await openStore(dataDir), server: await start(dataDir) };
  await query(first.server, 'create table note (number int)');
  await keepLog(first.server);
  await add(first, 1);
  await backUp(first);
  const second = await add(first, 2);
  await add(first, 3);
  const [assetId, uploadId] = [
    '01900000-0000-7000-8000-000000000001',
    '01900000-0000-7000-8000-000000000002',
  ];
  await first.store.put(uploadKey(assetId, uploadId), [Buffer.from('bytes')], 5);
  await backUp(first);
  const fourth = await add(first, 4);
  const end = await add(first, 4);
  await first.server.stop();

  const restored = await restore(second);
  expect(restored.numbers).toEqual([1, 2]);
  await keepLog(restored.server);
  const fifth = await add(restored, 5);
  const sixth = await add(restored, 6);
  await restored.server.stop();
  const { firstLog = '' } = await getSnapshot(target);
  expect(await isLogContinuous(target, firstLog), 'a snapshot is due').toBe(false);

  const latest = await restore('latest');
  expect(latest.numbers).toEqual([1, 2, 5, 6]);
  expect((await latest.store.list(originalPrefix(assetId))[Symbol.asyncIterator]().next()).done).toBe(false);
  expect((await restore(fourth)).numbers).toEqual([1, 2, 3, 4]);
  await expect(restore(end), 'nobody knows the time between').rejects.toThrow('The archived log ends before');
  expect((await restore(fifth)).numbers).toEqual([1, 2, 5]);

  // Another one that was restored to an earlier moment does not hide that timeline.
  const again = await restore(second);
  await keepLog(again.server);
  await add(again, 7);
  await backUp(again);
  await again.server.stop();
  expect((await restore(fifth)).numbers).toEqual([1, 2, 5]);
  expect((await restore('latest')).numbers).toEqual([1, 2, 7]);
  await expect(restore(new Date(sixth.getTime() + 3_600_000))).rejects.toThrow(
    'The archived log ends before',
  );
});
