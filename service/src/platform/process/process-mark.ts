// Marks what a process leaves on a disk, so that others who share the folder can tell what nobody needs any more.
import { hash } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';

/** `<place>-<pid>-<start>`. A process number comes again, within one place its start does not. */
const MARK = /^([0-9a-f]{16})-(\d+)-(\d+)$/;

/** The mark of this process; `unknown` where the system does not tell enough. */
export async function getProcessMark(): Promise<string> {
  const place = await thisPlace();
  return place === undefined ? 'unknown' : `${place}-${process.pid}-${await startOf(process.pid)}`;
}

/** Only a process of this very place can be seen to be gone. */
export async function isGone(mark: string): Promise<boolean> {
  const [, place, pid, start] = MARK.exec(mark) ?? [];
  return place !== undefined && place === (await thisPlace()) && (await startOf(Number(pid))) !== start;
}

/** The boot of a machine and the process numbering within it; undefined where the system does not tell. */
async function thisPlace(): Promise<string | undefined> {
  const [boot, numbering] = await Promise.all([
    unlessUntold(readFile('/proc/sys/kernel/random/boot_id', 'utf8')),
    unlessUntold(readlink('/proc/self/ns/pid')),
  ]);
  return boot && numbering && hash('sha256', boot + numbering).slice(0, 16);
}

/** The 22nd field of its stat: ticks from boot to its start; undefined where there is no such process. */
async function startOf(pid: number): Promise<string | undefined> {
  const text = await unlessUntold(readFile(`/proc/${pid}/stat`, 'utf8'));
  return text?.slice(text.lastIndexOf(')') + 2).split(' ')[19];
}

async function unlessUntold(told: Promise<string>): Promise<string | undefined> {
  try {
    return await told;
  } catch (error) {
    if (
      error instanceof Error &&
      'code' in error &&
      ['ENOENT', 'EACCES', 'ESRCH'].includes(String(error.code))
    )
      return undefined;
    throw error;
  }
}
