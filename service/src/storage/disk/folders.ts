// Files and folders below the store's root, where other processes may remove or make a folder at any moment.
import type { Dirent } from 'node:fs';
import { mkdir, open, readdir, rmdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Whether a system call failed for one of these reasons. */
export const failedWith = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));

/**
 * Makes a folder with what is missing above it; answers the folders that hold a new entry because of that, to be synced.
 * Where another process makes or removes one at the same moment it may end early, so whoever needs the folder tries again:
 * the recursive mkdir of Node fails there, with more than one code.
 */
export async function makeFolder(folder: string): Promise<string[]> {
  try {
    await mkdir(folder, { mode: 0o700 });
    return [dirname(folder)];
  } catch (error) {
    if (failedWith(error, 'EEXIST')) return [];
    if (!failedWith(error, 'ENOENT')) throw error;
    const above = await makeFolder(dirname(folder));
    return above.length === 0 ? above : [...above, ...(await makeFolder(folder))];
  }
}

/** Makes a folder's entries survive a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    await using handle = await open(folder, 'r');
    await handle.sync();
  } catch (error) {
    // A folder that is gone was emptied after the entry was made: there is nothing left to keep.
    if (!failedWith(error, 'ENOENT')) throw error;
  }
}

/** Paths of all files at any depth; what is removed meanwhile may be among them or not. */
export async function* filesBelow(folder: string): AsyncGenerator<string> {
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else yield path;
  }
}

/** Removes all files at any depth and the folders that this empties; answers how many files there were. */
export async function removeBelow(folder: string): Promise<number> {
  let removed = 0;
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removed += await removeBelow(path);
    else if (await removeFile(path)) removed += 1;
  }
  await removeIfEmpty(folder);
  return removed;
}

/** Whether there was such a file. */
export async function removeFile(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if (failedWith(error, 'ENOENT')) return false;
    throw error;
  }
}

/** Whether the folder is gone now. */
export async function removeIfEmpty(folder: string): Promise<boolean> {
  try {
    await rmdir(folder);
    return true;
  } catch (error) {
    if (failedWith(error, 'ENOENT')) return true;
    if (failedWith(error, 'ENOTEMPTY', 'EEXIST')) return false;
    throw error;
  }
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (failedWith(error, 'ENOENT')) return [];
    throw error;
  }
}
