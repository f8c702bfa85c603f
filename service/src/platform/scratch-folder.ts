// Scratch space of this process: folders that carry its number, so that those of a killed one can be told and removed.
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Makes an empty folder; `name` is a word of ours, unique among those in use. */
export async function makeScratch(root: string, name: string): Promise<string> {
  const folder = join(root, `${process.pid}.${name}`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}

export const removeScratch = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });

/** Removes what processes left that are gone. */
export async function sweepScratch(root: string): Promise<void> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  const left = (await readdir(root)).filter((name) => !isAlive(Number(name.split('.')[0])));
  for (const name of left) await removeScratch(join(root, name));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
