// Reads from /proc what a child and its descendants use. A child in a namespace of its own has helper processes above it.
import { readFile } from 'node:fs/promises';

/** The kernel counts CPU time for /proc in hundredths of a second on every Linux. */
const TICK_MS = 10;

/** CPU time that the processes have used; undefined where the system does not tell. */
export async function cpuMsOf(pid: number): Promise<number | undefined> {
  const times = await Promise.all((await processesBelow(pid)).map(cpuMsOfOne));
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, time) => sum + time, 0);
}

/** Memory that the processes hold; 0 where the system does not tell, or they are gone. */
export async function residentBytesOf(pid: number): Promise<number> {
  const sizes = await Promise.all((await processesBelow(pid)).map(residentBytesOfOne));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** The process itself and all below it. */
async function processesBelow(pid: number): Promise<number[]> {
  const children = (await read(`/proc/${pid}/task/${pid}/children`)).split(' ').map(Number).filter(Boolean);
  return [pid, ...(await Promise.all(children.map(processesBelow))).flat()];
}

/** Fields 14 and 15 of its stat, counted after the name, which may hold anything. */
async function cpuMsOfOne(pid: number): Promise<number | undefined> {
  const stat = await read(`/proc/${pid}/stat`);
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return user === undefined || system === undefined ? undefined : (user + system) * TICK_MS;
}

async function residentBytesOfOne(pid: number): Promise<number> {
  const status = await read(`/proc/${pid}/status`);
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}

/** Empty where there is no such process, or no /proc. */
const read = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');
