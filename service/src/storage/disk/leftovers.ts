// Temporary files carry the name of their process, so that those of dead ones can be swept while live ones share the folder.
import { hash, randomUUID } from 'node:crypto';
import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { failedWith, removeFile } from './folders.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** `<place>-<pid>-<start>_…`. A process number comes again, within one place its start does not. */
const OWNED = /^([0-9a-f]{16})-(\d+)-(\d+)_/;

/** Sweeps what dead processes left in the folder; answers a maker of new paths in it. */
export async function openTemporaryFolder(folder: string): Promise<() => string> {
  const place = await thisPlace();
  const owner = place === undefined ? 'unknown' : `${place}-${process.pid}-${await startOf(process.pid)}`;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if ((await isOrphan(name, place)) || (await isOld(path))) await removeFile(path);
  }
  return () => join(folder, `${owner}_${randomUUID()}`);
}

/** Only a process of this very place can be seen to be gone. */
async function isOrphan(name: string, here: string | undefined): Promise<boolean> {
  const [, place, pid, start] = OWNED.exec(name) ?? [];
  return place !== undefined && place === here && (await startOf(Number(pid))) !== start;
}

async function isOld(path: string): Promise<boolean> {
  try {
    return (await stat(path)).mtimeMs < Date.now() - DAY_MS;
  } catch (error) {
    if (failedWith(error, 'ENOENT')) return false;
    throw error;
  }
}

/** The boot of a machine and the process numbering within it; undefined where the system does not tell. */
async function thisPlace(): Promise<string | undefined> {
  try {
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    return hash('sha256', boot + (await readlink('/proc/self/ns/pid'))).slice(0, 16);
  } catch (error) {
    if (failedWith(error, 'ENOENT', 'EACCES')) return undefined;
    throw error;
  }
}

/** The 22nd field of its stat: ticks from boot to its start; undefined where there is no such process. */
async function startOf(pid: number): Promise<string | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
  } catch (error) {
    if (failedWith(error, 'ENOENT', 'ESRCH')) return undefined;
    throw error;
  }
}
