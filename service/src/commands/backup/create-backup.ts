// Adds a snapshot of the database and of all objects to a backup, and deletes those that are too old.
import { setTimeout as delay } from 'node:timers/promises';
import type { BackupTarget, TargetLock } from '../../storage/backup-target.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { copyDatabase, type DatabaseSource } from './backup-database.ts';
import {
  type BackedUpFile,
  type BackupWriter,
  databasePath,
  isUnchanged,
  listStored,
  objectPath,
  type StoredFiles,
} from './backup-files.ts';
import { copyObjects } from './backup-objects.ts';
import { deleteProgress, readProgress, startProgress } from './backup-progress.ts';
import {
  DamagedListError,
  deleteIncompleteListings,
  getSnapshot,
  listSnapshotNames,
  readSnapshotFiles,
  type Snapshot,
  type SnapshotFiles,
  snapshotName,
  writeSnapshot,
} from './backup-snapshot.ts';
import { deleteOldSnapshots, type Retention } from './delete-old-snapshots.ts';

export type BackupSource = DatabaseSource & {
  readonly store: ObjectStore;
  readonly now: () => Date;
  readonly signal: AbortSignal;
};

type CreatedBackup = {
  readonly snapshot: Snapshot;
  /** Objects that were sent to the target. */
  readonly copied: number;
  readonly deletedSnapshots: number;
  readonly deletedObjects: number;
  /** Why old snapshots are left. The new one is complete. */
  readonly retentionError?: unknown;
};

/** Throws when another backup is writing to the target. */
export async function createBackup(
  source: BackupSource,
  target: BackupTarget,
  retention?: Retention,
): Promise<CreatedBackup> {
  const lock = await target.lock(source.signal);
  try {
    return await createLocked(source, { target, lock }, retention);
  } catch (error) {
    // The error of a lost lock says more than that of the work which it ended.
    lock.signal.throwIfAborted();
    throw error;
  } finally {
    await lock.release();
  }
}

type LockedTarget = { readonly target: BackupTarget; readonly lock: TargetLock };

async function createLocked(
  source: BackupSource,
  { target, lock }: LockedTarget,
  retention: Retention | undefined,
): Promise<CreatedBackup> {
  await deleteIncompleteListings(target);
  const names = await listSnapshotNames(target);
  const name = await chooseName(source, names);
  const known = await readKnown(target, names);
  const writer = await openWriter(source, { target, lock }, known);
  const { files, copied } = await copyFiles(source, writer, name);
  const stored = await listStored(target);
  const listed = withTags(target, files, stored);
  await lock.assertHeld();
  const finished = { name, finishedAt: source.now().toISOString() };
  const snapshot = await writeSnapshot(target, finished, listed);
  await deleteProgress(target);
  const created = { snapshot, copied, deletedSnapshots: 0, deletedObjects: 0 };
  if (!retention) return created;
  return deleteOldSnapshots(target, stored, retention).then(
    (deleted) => ({ ...created, ...deleted }),
    (retentionError: unknown) => ({ ...created, retentionError }),
  );
}

async function chooseName({ now, signal }: BackupSource, names: readonly string[]): Promise<string> {
  for (;;) {
    const name = snapshotName(now());
    if (!names.includes(name)) return name;
    await delay(100, undefined, { signal });
  }
}

async function openWriter(
  { signal }: BackupSource,
  { target, lock }: LockedTarget,
  files: SnapshotFiles | undefined,
): Promise<BackupWriter> {
  const known = new Map<string, BackedUpFile>(
    (await readProgress(target)).map((object) => [objectPath(object), object]),
  );
  for (const file of files?.objects ?? []) known.set(objectPath(file), file);
  for (const file of files?.database ?? []) known.set(databasePath(file), file);
  const stored = await listStored(target);
  return { target, stored, known, signal: AbortSignal.any([signal, lock.signal]) };
}

/** The files of the newest snapshot whose list is whole: a damaged one must not end all backups. */
async function readKnown(target: BackupTarget, names: readonly string[]): Promise<SnapshotFiles | undefined> {
  for (const name of names.toReversed()) {
    const snapshot = await getSnapshot(target, name);
    const files = await readSnapshotFiles(target, snapshot).catch(unlessDamaged);
    if (files) return files;
  }
  return undefined;
}

function unlessDamaged(error: unknown): undefined {
  if (!(error instanceof DamagedListError)) throw error;
}

/**
 * The database comes first: the store still has the objects of every row then, because the service deletes
 * replaced ones only after PURGE_GRACE_DAYS.
 */
async function copyFiles(
  source: BackupSource,
  writer: BackupWriter,
  name: string,
): Promise<{ readonly files: SnapshotFiles; readonly copied: number }> {
  const database = await copyDatabase(source, writer);
  const progress = startProgress(writer.target, name);
  try {
    const { objects, copied } = await copyObjects(source.store, writer, progress);
    return { files: { ...database, objects }, copied };
  } catch (error) {
    await progress.record().catch(() => {});
    throw error;
  }
}

/** Throws where the target does not list a file with its size, although it accepted the bytes. */
function withTags(target: BackupTarget, files: SnapshotFiles, stored: StoredFiles): SnapshotFiles {
  const add = (path: string, { tag: _, ...file }: BackedUpFile): BackedUpFile => {
    const found = stored.get(path);
    if (!isUnchanged(found, file))
      throw new Error(`${target.location} does not have ${path}, which was written to it`);
    return { ...file, tag: found?.tag };
  };
  return {
    folders: files.folders,
    endsAt: files.endsAt,
    database: files.database.map((file) => add(databasePath(file), file)),
    secrets: files.secrets && add(databasePath(files.secrets), files.secrets),
    objects: files.objects.map((file) => add(objectPath(file), file)),
  };
}
