// Temporary files carry the mark of their process, so that those of dead ones can be swept while live ones share the folder.
import { randomUUID } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isGone, getProcessMark } from '../../platform/process/process-mark.ts';
import { failedWith, removeFile } from './folders.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Sweeps what dead processes left in the folder; answers a maker of new paths in it. */
export async function openTemporaryFolder(folder: string): Promise<() => string> {
  const mark = await getProcessMark();
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if ((await isGone(name.slice(0, name.indexOf('_')))) || (await isOld(path))) await removeFile(path);
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
