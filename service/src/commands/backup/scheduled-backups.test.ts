// Scheduled backups of a real database: a new process makes the snapshot that an earlier one left out.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newFolder } from '@mediary/embedded-postgres/launcher.fixture';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { createLogger } from '../../platform/observability/logger.ts';
import { openFolderBackupTarget } from '../../storage/backup/folder-backup-target.ts';
import { openDiskObjectStore } from '../../storage/disk-object-store.ts';
import { getSnapshot, listSnapshotNames } from './backup-snapshot.ts';
import { startBackups } from './scheduled-backups.ts';

let [dataDir, root]: string[] = [];
let server: EmbeddedPostgres;
beforeAll(async () => {
  dataDir = newFolder();
  root = await mkdtemp(join(tmpdir(), 'mediary-backup-'));
  server = await startEmbeddedPostgres(dataDir);
});
afterAll(async () => {
  await server.stop();
  await rm(root as string, { recursive: true, force: true });
});

/** Runs until the target has so many snapshots. */
async function runUntil(count: number): Promise<void> {
  const target = openFolderBackupTarget(root as string);
  const backups = await startBackups({
    dataDir: dataDir as string,
    server,
    store: await openDiskObjectStore(join(dataDir as string, 'objects'), { minFreeBytes: 0 }),
    minFreeBytes: 0,
    now: () => new Date(),
    target,
    settings: { everySeconds: 86_400, keepDays: 7, logEverySeconds: 1 },
    metrics: { registerGauge: () => {} },
    log: createLogger('silent'),
  });
  await expect.poll(async () => (await listSnapshotNames(target)).length, { timeout: 120_000 }).toBe(count);
  await backups.stop();
}

test('a snapshot is made at the next start where the log has a gap behind the newest one', async () => {
  await runUntil(1);
  const { firstLog } = await getSnapshot(openFolderBackupTarget(root as string));
  expect(await readdir(join(root as string, 'log'))).toContain(`${firstLog}.gz`);
  await rm(join(root as string, 'log', `${firstLog}.gz`));
  await runUntil(2);
});
