// Restores a snapshot, or with the archived log any later moment, into a folder without a database.
import { mkdir } from 'node:fs/promises';
import { assertNoCluster, type CopiedFile, restoreCluster } from '@mediary/embedded-postgres/base-backup';
import type { BackupTarget } from '../../storage/backup-target.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { hasArchivedLog, writeHistories, writeLogFiles } from './archived-log.ts';
import { writeCluster, writeSecrets } from './backup-database.ts';
import { restoreObjects } from './backup-objects.ts';
import { getSnapshot, listSnapshots, readSnapshotFiles, type Snapshot } from './backup-snapshot.ts';

/** Undefined: the newest snapshot. `latest`: the end of the archived log. */
export type RestorePoint = { readonly snapshot: string } | { readonly time: Date | 'latest' } | undefined;

type RestoredBackup = {
  readonly snapshot: Snapshot;
  readonly objects: readonly CopiedFile[];
  /** Time of the last change of the database; undefined where the log had none. */
  readonly lastChange: Date | undefined;
};

/** Throws where the folder has a database, and where the backup does not reach the point. */
export async function restoreBackup(
  { dataDir, store }: { readonly dataDir: string; readonly store: ObjectStore },
  target: BackupTarget,
  point: RestorePoint,
): Promise<RestoredBackup> {
  const time = point && 'time' in point ? point.time : undefined;
  const snapshot = await chooseSnapshot(target, point);
  await mkdir(dataDir, { recursive: true });
  await assertNoCluster(dataDir);
  const files = await readSnapshotFiles(target, snapshot);
  const later = time === undefined ? [] : await listLaterObjects(target, snapshot);
  const objects = [...new Map([...files.objects, ...later].map((object) => [object.path, object])).values()];
  // The database comes last: a service that starts before has none, and so serves nothing half restored.
  await restoreObjects(store, target, objects);
  await writeSecrets(target, files, dataDir);
  const lastChange = await restoreCluster((cluster) => writeCluster(target, files, cluster), dataDir, {
    fillLog: (folder) =>
      time === undefined ? writeHistories(target, folder) : writeLogFiles(target, snapshot.firstLog, folder),
    to: time ?? 'immediate',
  });
  return { snapshot, objects, lastChange };
}

async function chooseSnapshot(target: BackupTarget, point: RestorePoint): Promise<Snapshot> {
  if (!point) return getSnapshot(target);
  if ('snapshot' in point) return getSnapshot(target, point.snapshot);
  if (!(await hasArchivedLog(target)))
    throw new Error(`${target.location} has no archived log. A service archives it where BACKUP_TO is set`);
  const { time } = point;
  if (time === 'latest') return getSnapshot(target);
  const snapshots = await listSnapshots(target);
  const chosen = snapshots.findLast(({ finishedAt }) => new Date(finishedAt) <= time);
  if (chosen) return chosen;
  const first = snapshots[0]?.finishedAt ?? 'never';
  throw new Error(`The backup begins after ${time.toISOString()}: its first snapshot is of ${first}`);
}

/** Rows that are younger than the snapshot have objects that the next one lists. */
async function listLaterObjects(target: BackupTarget, { name }: Snapshot): Promise<readonly CopiedFile[]> {
  const next = (await listSnapshots(target)).find((each) => each.name > name);
  return next ? (await readSnapshotFiles(target, next)).objects : [];
}
