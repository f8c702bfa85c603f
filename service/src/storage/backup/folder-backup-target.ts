// Backup target in a folder, better on another disk.
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isInUse, lockFolder } from '@mediary/embedded-postgres/folder-lock';
import { writeHashed } from '@mediary/embedded-postgres/hashed-file';
import { syncFolder } from '../../platform/disk/sync-folder.ts';
import {
  type BackupTarget,
  type NewTargetFile,
  type TargetFile,
  TargetInUseError,
  type TargetLock,
} from '../backup-target.ts';
import { ObjectStoreError, type StoredBytes } from '../object-store.ts';
import { exactBytes } from '../received-bytes.ts';

/** Files that are being written. A backup deletes what killed processes left. */
const INCOMING = 'incoming';
const ABANDONED_MS = 3_600_000;

export const openFolderBackupTarget = (root: string): BackupTarget => ({
  location: root,
  list: (folder) => listFiles(root, folder),
  read: (path) => readFileOf(root, path),
  write: (file, bytes) => writeFileOf(root, file, bytes),
  remove: (paths) => removeFiles(root, paths),
  lock: () => lockTarget(root),
  close: () => {},
});

async function* listFiles(root: string, folder: string): AsyncGenerator<TargetFile> {
  for (const entry of (await readdir(join(root, folder), { withFileTypes: true }).catch(unlessMissing)) ??
    []) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) yield* listFiles(root, path);
    else {
      const found = await stat(join(root, path)).catch(unlessMissing);
      if (found) yield { path, sizeBytes: found.size };
    }
  }
}

async function readFileOf(root: string, path: string): Promise<AsyncIterable<Uint8Array> | undefined> {
  const file = await open(join(root, path)).catch(unlessMissing);
  return file?.createReadStream();
}

async function writeFileOf(
  root: string,
  { path, sizeBytes }: NewTargetFile,
  bytes: AsyncIterable<Uint8Array>,
): Promise<StoredBytes> {
  const [target, temporary] = [join(root, path), join(root, INCOMING, randomUUID())];
  await makeFolder(dirname(temporary));
  try {
    const written = await writeHashed(temporary, exactBytes(bytes, sizeBytes));
    await makeFolder(dirname(target));
    // Not a hard link, which file systems of backup disks may lack.
    if (await stat(target).catch(unlessMissing)) throw new ObjectStoreError('exists');
    await rename(temporary, target);
    await syncFolder(dirname(target));
    return written;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Its entry, and those of the folders above that it creates, are durable. */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let created = folder; created.length >= first.length; created = dirname(created))
    await syncFolder(dirname(created));
}

/** Also removes the folders that become empty. */
async function removeFiles(root: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await rm(join(root, path), { force: true });
    for (let folder = dirname(path); folder.includes('/'); folder = dirname(folder))
      if (!(await rmdir(join(root, folder)).then(isDone, isNotDone))) break;
  }
}

const isDone = () => true;
const isNotDone = () => false;

/** The kernel releases it when the process dies. */
async function lockTarget(root: string): Promise<TargetLock> {
  await makeFolder(root);
  try {
    const lock = lockFolder(root);
    await deleteAbandoned(join(root, INCOMING));
    return {
      signal: new AbortController().signal,
      assertHeld: async () => {},
      release: async () => lock.release(),
    };
  } catch (cause) {
    if (!isInUse(cause)) throw cause;
    throw new TargetInUseError(
      `Another backup is writing to ${root}. Wait for its end, or choose another folder.`,
      { cause },
    );
  }
}

async function deleteAbandoned(folder: string): Promise<void> {
  for (const name of (await readdir(folder).catch(unlessMissing)) ?? []) {
    const path = join(folder, name);
    const found = await stat(path).catch(unlessMissing);
    if (found?.isFile() && found.mtimeMs < Date.now() - ABANDONED_MS) await rm(path, { force: true });
  }
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
