// The files that `upload` sends: those that are named, and with `--recursive` those of folders.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { findMimeType } from '@mediary/client';
import { type CliError, usageError } from './exit-codes.ts';

export type LocalFile = { readonly path: string; readonly size: number; readonly modifiedAt: number };

type FileSearch = {
  readonly isRecursive: boolean;
  /** Whether files of folders are sent whatever their name says. */
  readonly isTypeGiven: boolean;
};

type FoundFiles = {
  readonly files: readonly LocalFile[];
  /** Files of folders that are neither images nor videos by their name. */
  readonly others: readonly string[];
};

/** Hidden files of folders, and what is no file, are left out without a word. */
export async function findUploadFiles(
  paths: readonly string[],
  { isRecursive, isTypeGiven }: FileSearch,
): Promise<FoundFiles> {
  const files: LocalFile[] = [];
  const others: string[] = [];
  for (const path of paths) {
    const entry = await readEntry(path);
    if (!entry.isFolder) files.push(entry);
    else if (!isRecursive) throw folderError(path);
    else
      for (const file of await listFiles(path))
        if (isTypeGiven || findMimeType(file) !== undefined) files.push(await readEntry(file));
        else others.push(file);
  }
  return { files, others };
}

const folderError = (path: string): CliError =>
  usageError(`${path} is a folder.`, `Upload the files in it: mediary upload ${path} --recursive`);

async function readEntry(path: string): Promise<LocalFile & { readonly isFolder: boolean }> {
  const found = await stat(path).catch((error: Error) => {
    throw usageError(`${path} cannot be read: ${error.message}`);
  });
  return { path, size: found.size, modifiedAt: found.mtimeMs, isFolder: found.isDirectory() };
}

/** In the order of their paths. Links to folders are not followed: they may lead back. */
async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: Error) => {
    throw usageError(`${folder} cannot be read: ${error.message}`);
  });
  const visible = entries.filter(({ name }) => !name.startsWith('.'));
  const lists = visible
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return listFiles(path);
      return entry.isFile() ? [path] : [];
    });
  return (await Promise.all(lists)).flat();
}
