// Scratch folders for jobs, named with the mark of their process, so that abandoned ones can be deleted.
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasProcessExited, getProcessMark } from './process-mark.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Folder names are `<mark>.<work>.<run>`; both parts contain no dots. */
type ScratchName = { readonly work: string; readonly run: string };

/** Creates an empty folder for a run and deletes those of earlier runs, whose results are no longer accepted. */
export async function createScratchFolder(root: string, { work, run }: ScratchName): Promise<string> {
  for (const name of await readdir(root)) {
    if (name.split('.')[1] === work) await deleteScratchFolder(join(root, name));
  }
  const folder = join(root, `${await getProcessMark()}.${work}.${run}`);
  await mkdir(folder, { mode: 0o700 });
  return folder;
}

export const deleteScratchFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true });

/** Deletes folders of exited processes, and folders without a change for a day whose process state is unknown. */
export async function sweepScratchFolders(root: string): Promise<void> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  for (const name of await readdir(root)) {
    const folder = join(root, name);
    if ((await hasProcessExited(name.slice(0, name.indexOf('.')))) || (await isOld(folder)))
      await deleteScratchFolder(folder);
  }
}

/** Compares the modification times of the folder and its direct entries. */
async function isOld(folder: string): Promise<boolean> {
  const paths = [folder, ...(await readdir(folder).catch(() => [])).map((name) => join(folder, name))];
  // An entry that is deleted meanwhile belongs to a running process.
  const times = await Promise.all(
    paths.map((path) =>
      stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => Date.now(),
      ),
    ),
  );
  return Math.max(...times) < Date.now() - DAY_MS;
}
