// Reads CPU time and memory of a process and its descendants from /proc; the sandbox adds helper processes.
import { readFile } from 'node:fs/promises';

/** Linux reports CPU time in /proc in units of 1/100 s on every platform. */
const TICK_MS = 10;

/** Total CPU time of the process tree; undefined without /proc. */
export async function readCpuMs(pid: number): Promise<number | undefined> {
  const times = await Promise.all((await listProcessTree(pid)).map(readOwnCpuMs));
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, time) => sum + time, 0);
}

/** Total resident memory of the process tree; 0 without /proc, or when the processes have exited. */
export async function readResidentBytes(pid: number): Promise<number> {
  const sizes = await Promise.all((await listProcessTree(pid)).map(readOwnResidentBytes));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** The process and all its descendants. */
async function listProcessTree(pid: number): Promise<number[]> {
  const children = (await read(`/proc/${pid}/task/${pid}/children`)).split(' ').map(Number).filter(Boolean);
  return [pid, ...(await Promise.all(children.map(listProcessTree))).flat()];
}

/** Fields 14 and 15 of stat, counted from the end of the process name, which may contain any character. */
async function readOwnCpuMs(pid: number): Promise<number | undefined> {
  const stat = await read(`/proc/${pid}/stat`);
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return user === undefined || system === undefined ? undefined : (user + system) * TICK_MS;
}

async function readOwnResidentBytes(pid: number): Promise<number> {
  const status = await read(`/proc/${pid}/status`);
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}

/** Returns an empty string when the process or /proc does not exist. */
const read = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');
