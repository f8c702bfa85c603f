// File system helpers that tolerate concurrent creation and removal of folders by other processes.
import type { Dirent } from 'node:fs';
import { mkdir, readdir, rmdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** True when a system call failed with one of these codes. */
export const failedWith = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));

/** Others create and remove the folders above at the same time. */
const MAX_ATTEMPTS = 3;

/**
 * Creates a folder and its missing parents; returns the folders with a new entry, which the caller must sync.
 * Callers must retry, because a concurrent removal can end it early. Node's recursive mkdir fails in this
 * case with several codes.
 */
export async function makeFolder(folder: string, attempts = MAX_ATTEMPTS): Promise<string[]> {
  try {
    await mkdir(folder, { mode: 0o700 });
    return [dirname(folder)];
  } catch (error) {
    if (failedWith(error, 'EEXIST')) return [];
    if (!failedWith(error, 'ENOENT')) throw error;
    if (attempts === 1) return [];
    const above = await makeFolder(dirname(folder));
    return [...above, ...(await makeFolder(folder, attempts - 1))];
  }
}

/**
 * Lists all files recursively, by name; may include files that are deleted meanwhile. `after`: continues
 * behind this path.
 */
export async function* filesBelow(folder: string, after?: string): AsyncGenerator<string> {
  const entries = (await entriesOf(folder)).sort((a, b) => (a.name < b.name ? -1 : 1));
  const name = after?.startsWith(`${folder}/`) ? after.slice(folder.length + 1).split('/')[0] : undefined;
  for (const entry of entries) {
    if (name !== undefined && entry.name < name) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path, entry.name === name ? after : undefined);
    else if (path !== after) yield path;
  }
}

/** Deletes all files recursively and the emptied folders; returns the number of files. */
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

/** Returns false when the file did not exist. */
export async function removeFile(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if (failedWith(error, 'ENOENT')) return false;
    throw error;
  }
}

/** Returns true when the folder no longer exists. */
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
