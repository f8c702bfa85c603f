// Scratch space for pieces of work: folders that carry the mark of their process, so that those of dead ones can be told and removed.
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isGone, getProcessMark } from './process-mark.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** `<mark>.<work>.<turn>`: words of ours without dots. */
type Turn = { readonly work: string; readonly turn: string };

/** Makes an empty folder for a turn at some work. What earlier turns left goes: whoever works in it still, works for nothing. */
export async function makeScratch(root: string, { work, turn }: Turn): Promise<string> {
  for (const name of await readdir(root)) {
    if (name.split('.')[1] === work) await removeScratch(join(root, name));
  }
  const folder = join(root, `${await getProcessMark()}.${work}.${turn}`);
  await mkdir(folder, { mode: 0o700 });
  return folder;
}

export const removeScratch = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });

/** Removes what processes left that are gone, or that cannot be asked and have done nothing for a day. */
export async function sweepScratch(root: string): Promise<void> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  for (const name of await readdir(root)) {
    const folder = join(root, name);
    if ((await isGone(name.slice(0, name.indexOf('.')))) || (await isOld(folder)))
      await removeScratch(folder);
  }
}

/** By the folders in it, whose time is that of the last file made there. */
async function isOld(folder: string): Promise<boolean> {
  const paths = [folder, ...(await readdir(folder).catch(() => [])).map((name) => join(folder, name))];
  // What is removed while we look is not ours to judge.
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
