// Deletes old snapshots, and what only they need: objects, files of the database, and archived log.
import type { BackupTarget } from '../../storage/backup-target.ts';
import { deleteArchivedBefore } from './archived-log.ts';
import { databasePath, objectPath, type StoredFiles } from './backup-files.ts';
import { deleteSnapshots, listSnapshots, readSnapshotFiles, type Snapshot } from './backup-snapshot.ts';

/** `last`: the newest snapshots. `since`: those from which any moment after it can be restored. */
export type Retention = { readonly last: number } | { readonly since: Date };

type DeletedFiles = { readonly deletedSnapshots: number; readonly deletedObjects: number };

/** `stored`: what the target has; later files are kept. */
export async function deleteOldSnapshots(
  target: BackupTarget,
  stored: StoredFiles,
  retention: Retention,
): Promise<DeletedFiles> {
  const snapshots = await listSnapshots(target);
  const kept = snapshots.slice(
    'last' in retention ? -retention.last : firstSince(snapshots, retention.since),
  );
  const unneeded = new Set(stored.keys());
  // The lists are read before anything is deleted: a damaged one keeps all files.
  for (const snapshot of kept) {
    const { database, secrets, objects } = await readSnapshotFiles(target, snapshot);
    for (const file of objects) unneeded.delete(objectPath(file));
    for (const file of secrets ? [...database, secrets] : database) unneeded.delete(databasePath(file));
  }
  const old = snapshots.slice(0, snapshots.length - kept.length).map(({ name }) => name);
  await deleteSnapshots(target, old);
  await target.remove([...unneeded]);
  const [firstLog, ...otherLogs] = kept.flatMap((snapshot) => snapshot.firstLog ?? []);
  if (firstLog !== undefined) await deleteArchivedBefore(target, [firstLog, ...otherLogs]);
  const deletedObjects = [...unneeded].filter((path) => path.startsWith(objectPath({ path: '' }))).length;
  return { deletedSnapshots: old.length, deletedObjects };
}

/** A moment is restored from the newest snapshot that was finished before it. */
const firstSince = (snapshots: readonly Snapshot[], since: Date): number =>
  Math.max(
    0,
    snapshots.findLastIndex(({ finishedAt }) => new Date(finishedAt) <= since),
  );
