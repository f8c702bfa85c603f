// Restores a snapshot, or with the archived log any later moment, into a folder without a database.
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { listArchived } from '@mediary/embedded-postgres/archived-log';
import { assertNoCluster, type CopiedFile, restoreCluster } from '@mediary/embedded-postgres/base-backup';
import type { ObjectStore } from '../../storage/object-store.ts';
import { restoreObjects } from './backup-objects.ts';
import {
  DATABASE,
  getSnapshot,
  listSnapshots,
  logFolder,
  readSnapshot,
  SECRETS,
  type Snapshot,
  snapshotFolder,
} from './backup-snapshot.ts';
import { unlessMissing } from './create-backup.ts';

/** Undefined: the newest snapshot. `latest`: the end of the archived log. */
export type RestorePoint = { readonly snapshot: string } | { readonly time: Date | 'latest' } | undefined;

type RestoredBackup = {
  readonly snapshot: Snapshot;
  readonly objects: readonly CopiedFile[];
  /** Time of the last change of the database that the log had; undefined without a log. */
  readonly lastChange: Date | undefined;
};

/** Throws where the folder has a database, and where the backup does not reach the point. */
export async function restoreBackup(
  { dataDir, store }: { readonly dataDir: string; readonly store: ObjectStore },
  folder: string,
  point: RestorePoint,
): Promise<RestoredBackup> {
  const time = point && 'time' in point ? point.time : undefined;
  const snapshot = await chooseSnapshot(folder, point);
  await mkdir(dataDir, { recursive: true });
  await assertNoCluster(dataDir);
  const objects = await listObjects(folder, snapshot, time);
  // The database comes last: a service that starts before has none, and so serves nothing half restored.
  await restoreObjects(store, folder, objects);
  const source = snapshotFolder(folder, snapshot.name);
  await copyFile(join(source, SECRETS), join(dataDir, SECRETS)).catch(unlessMissing);
  const lastChange = await restoreCluster(
    join(source, DATABASE),
    dataDir,
    time && { log: logFolder(folder), to: time === 'latest' ? undefined : time },
  );
  return { snapshot, objects, lastChange };
}

async function chooseSnapshot(folder: string, point: RestorePoint): Promise<Snapshot> {
  if (!point) return getSnapshot(folder);
  if ('snapshot' in point) return getSnapshot(folder, point.snapshot);
  if ((await listArchived(logFolder(folder))).length === 0)
    throw new Error(`${folder} has no archived log. A service archives it where BACKUP_TO is set`);
  if (point.time === 'latest') return getSnapshot(folder);
  const names = await listSnapshots(folder);
  const snapshots = await Promise.all(names.map((name) => readSnapshot(folder, name)));
  const { time } = point;
  const chosen = snapshots.findLast(({ finishedAt }) => new Date(finishedAt) <= time);
  if (chosen) return chosen;
  const first = snapshots[0]?.finishedAt ?? 'never';
  throw new Error(`The backup begins after ${time.toISOString()}: its first snapshot is of ${first}`);
}

/** Rows that are younger than the snapshot have objects that the next one lists. */
async function listObjects(
  folder: string,
  snapshot: Snapshot,
  time: Date | 'latest' | undefined,
): Promise<readonly CopiedFile[]> {
  const next = (await listSnapshots(folder)).find((name) => name > snapshot.name);
  if (time === undefined || next === undefined) return snapshot.objects;
  const later = (await readSnapshot(folder, next)).objects;
  return [...new Map([...snapshot.objects, ...later].map((object) => [object.path, object])).values()];
}
