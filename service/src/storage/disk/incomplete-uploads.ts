// Temporary files of uploads, named with the mark of their process, so that abandoned ones can be deleted.
import { randomUUID } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasProcessExited, getProcessMark } from '../../platform/process/scratch-folder.ts';
import { failedWith, removeFile } from './folders.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Deletes the files of exited processes; returns a function that creates new paths. */
export async function openTemporaryFolder(folder: string): Promise<() => string> {
  const mark = await getProcessMark();
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if ((await hasProcessExited(name.slice(0, name.indexOf('_')))) || (await isOld(path)))
      await removeFile(path);
  }
  return () => join(folder, `${mark}_${randomUUID()}`);
}

async function isOld(path: string): Promise<boolean> {
  try {
    return (await stat(path)).mtimeMs < Date.now() - DAY_MS;
  } catch (error) {
    if (failedWith(error, 'ENOENT')) return false;
    throw error;
  }
}
