// Adds a snapshot of the database and of all objects to a backup, and deletes those that are too old.
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { deleteArchivedBefore } from '@mediary/embedded-postgres/archived-log';
import { type CopiedFile, copyCluster, firstLogOf } from '@mediary/embedded-postgres/base-backup';
import { lockFolder } from '@mediary/embedded-postgres/folder-lock';
import type { EmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import type { ObjectStore } from '../../storage/object-store.ts';
import { copyObjects, deleteUnlisted } from './backup-objects.ts';
import {
  DATABASE,
  deleteIncomplete,
  listSnapshots,
  logFolder,
  objectFile,
  readSnapshot,
  SECRETS,
  type Snapshot,
  snapshotFolder,
  snapshotName,
  writeSnapshot,
} from './backup-snapshot.ts';

export type BackupSource = {
  readonly dataDir: string;
  readonly server: Pick<EmbeddedPostgres, 'connection' | 'dataFolder'>;
  readonly store: ObjectStore;
  readonly now: () => Date;
  readonly signal: AbortSignal;
};

/** `last`: the newest snapshots. `since`: those from which any moment after it can be restored. */
type Retention = { readonly last: number } | { readonly since: Date };

type CreatedBackup = {
  readonly snapshot: Snapshot;
  /** Objects that earlier snapshots did not have. */
  readonly copied: number;
  readonly deletedSnapshots: number;
  readonly deletedObjects: number;
};

/**
 * The database comes first: the store still has the objects of every row then, because the service deletes
 * replaced ones only after PURGE_GRACE_DAYS.
 */
export async function createBackup(
  source: BackupSource,
  folder: string,
  retention?: Retention,
): Promise<CreatedBackup> {
  await mkdir(objectFile(folder, ''), { recursive: true, mode: 0o700 });
  const lock = lockFolder(folder);
  try {
    await deleteIncomplete(folder);
    const [newest] = (await listSnapshots(folder)).slice(-1);
    const known = newest === undefined ? [] : (await readSnapshot(folder, newest)).objects;
    const name = snapshotName(source.now());
    const database = await copyDatabase(source, snapshotFolder(folder, name));
    const { objects, copied } = await copyObjects(source, folder, known);
    const snapshot = { name, finishedAt: source.now().toISOString(), database, objects };
    await writeSnapshot(folder, snapshot);
    return { snapshot, copied, ...(await deleteOldSnapshots(folder, retention)) };
  } finally {
    lock.release();
  }
}

async function copyDatabase({ dataDir, server }: BackupSource, snapshot: string): Promise<CopiedFile[]> {
  const target = join(snapshot, DATABASE);
  await mkdir(target, { recursive: true, mode: 0o700 });
  const files = await copyCluster(server, target);
  await copyFile(join(dataDir, SECRETS), join(snapshot, SECRETS)).catch(unlessMissing);
  return files;
}

/** Without generated secrets, all come from settings. */
export function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** Also deletes the objects and the log that only they need. */
async function deleteOldSnapshots(folder: string, retention: Retention | undefined) {
  if (!retention) return { deletedSnapshots: 0, deletedObjects: 0 };
  const names = await listSnapshots(folder);
  const snapshots = await Promise.all(names.map((name) => readSnapshot(folder, name)));
  const kept = snapshots.slice(
    'last' in retention ? -retention.last : firstSince(snapshots, retention.since),
  );
  const old = names.slice(0, names.length - kept.length);
  for (const name of old) await rm(snapshotFolder(folder, name), { recursive: true });
  const listed = new Set(kept.flatMap(({ objects }) => objects.map(({ path }) => path)));
  const deletedObjects = await deleteUnlisted(objectFile(folder, ''), listed);
  const firstLog = kept[0] && firstLogOf(kept[0].database);
  if (firstLog !== undefined) await deleteArchivedBefore(logFolder(folder), firstLog);
  return { deletedSnapshots: old.length, deletedObjects };
}

/** A moment is restored from the newest snapshot that was finished before it. */
const firstSince = (snapshots: readonly Snapshot[], since: Date): number =>
  Math.max(
    0,
    snapshots.findLastIndex(({ finishedAt }) => new Date(finishedAt) <= since),
  );
