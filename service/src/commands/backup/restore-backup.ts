// Restores a snapshot, or with the archived log any later moment, into a folder without a database.
import { mkdir } from 'node:fs/promises';
import { assertNoCluster, type CopiedFile, restoreCluster } from '@mediary/embedded-postgres/base-backup';
import { ShortLogError } from '@mediary/embedded-postgres/recovery';
import type { BackupTarget } from '../../storage/backup-target.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { writeHistories, writeLogFiles } from './archived-log.ts';
import { writeCluster, writeSecrets } from './backup-database.ts';
import { restoreObjects } from './backup-objects.ts';
import { readSnapshotFiles, type Snapshot, type SnapshotFiles } from './backup-snapshot.ts';
import { listRoutes, type RestorePoint, type RestoreRoute } from './restore-route.ts';
import { timelineOf } from './timelines.ts';

type RestoredBackup = {
  readonly snapshot: Snapshot;
  readonly objects: readonly CopiedFile[];
  /** Time of the last change of the database; undefined where the log had none. */
  readonly lastChange: Date | undefined;
};

type RestoreTarget = { readonly dataDir: string; readonly store: ObjectStore };

/** Throws where the folder has a database, and where the backup does not reach the point. */
export async function restoreBackup(
  { dataDir, store }: RestoreTarget,
  target: BackupTarget,
  point: RestorePoint,
): Promise<RestoredBackup> {
  const routes = await listRoutes(target, point);
  await mkdir(dataDir, { recursive: true });
  await assertNoCluster(dataDir);
  const time = point && 'time' in point ? point.time : undefined;
  let shortLog: ShortLogError | undefined;
  let since: string | undefined;
  for (const route of routes) {
    try {
      return await restoreAlong({ dataDir, store }, target, { route, time, since });
    } catch (error) {
      if (!(error instanceof ShortLogError)) throw error;
      shortLog = error;
      since = error.lastChange ?? route.snapshot.finishedAt;
    }
  }
  throw shortLog;
}

type TimedRoute = {
  readonly route: RestoreRoute;
  readonly time: Date | 'latest' | undefined;
  /** The last change of the timeline before. The next one may have begun earlier, and be silent since. */
  readonly since: string | undefined;
};

async function restoreAlong(
  { dataDir, store }: RestoreTarget,
  target: BackupTarget,
  { route: { snapshot, timeline, later }, time, since }: TimedRoute,
): Promise<RestoredBackup> {
  const files = await readSnapshotFiles(target, snapshot);
  const objects = await listObjects(target, files, later);
  // The database comes last: a service that starts before has none, and so serves nothing half restored.
  await restoreObjects(store, target, objects);
  await writeSecrets(target, files, dataDir);
  const lastChange = await restoreCluster((cluster) => writeCluster(target, files, cluster), dataDir, {
    fillLog: (folder) =>
      time === undefined ? writeHistories(target, folder) : writeLogFiles(target, snapshot.firstLog, folder),
    to: time ?? 'immediate',
    since,
    ...(timeline !== timelineOf(snapshot) && { timeline }),
  });
  return { snapshot, objects, lastChange };
}

/** Rows that are younger than the snapshot have objects that later ones list. */
async function listObjects(
  target: BackupTarget,
  files: SnapshotFiles,
  later: readonly Snapshot[],
): Promise<CopiedFile[]> {
  const objects = new Map(files.objects.map((object) => [object.path, object]));
  for (const snapshot of new Set(later))
    for (const object of (await readSnapshotFiles(target, snapshot)).objects)
      objects.set(object.path, object);
  return [...objects.values()];
}
