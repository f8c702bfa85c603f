// Finds the files of a snapshot that are missing or damaged.
import type { BackupTarget } from '../../storage/backup-target.ts';
import {
  type BackedUpFile,
  ChangedFileError,
  databasePath,
  inParallel,
  isUnchanged,
  listStored,
  objectPath,
  readVerified,
} from './backup-files.ts';
import type { SnapshotFiles } from './backup-snapshot.ts';

/**
 * Reads every file and compares its SHA-256; returns the paths of those that differ. `isQuick`: reads only
 * the files whose checksum the target does not list.
 */
export async function findDamage(
  target: BackupTarget,
  { database, secrets, objects }: SnapshotFiles,
  isQuick: boolean,
): Promise<string[]> {
  const files = new Map<string, BackedUpFile>([
    ...[...database, ...(secrets ? [secrets] : [])].map((file) => [databasePath(file), file] as const),
    ...objects.map((file) => [objectPath(file), file] as const),
  ]);
  const stored = await listStored(target);
  const damaged: string[] = [];
  await inParallel(files, async ([path, file]) => {
    const found = stored.get(path);
    if (isQuick && file.tag !== undefined && isUnchanged(found, file)) return;
    if (found?.sizeBytes !== file.sizeBytes || !(await isWhole(target, { path, sha256: file.sha256 })))
      damaged.push(`${target.location}/${path}`);
  });
  return damaged.sort();
}

async function isWhole(target: BackupTarget, file: Parameters<typeof readVerified>[1]): Promise<boolean> {
  try {
    for await (const _ of readVerified(target, file));
    return true;
  } catch (error) {
    if (error instanceof ChangedFileError) return false;
    throw error;
  }
}
