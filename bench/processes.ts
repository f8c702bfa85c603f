// Starts server processes, waits until they are ready, and measures their CPU time and memory.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../test/support/http/free-port.ts';

/** Resident memory: `rssBytes` now, `peakBytes` at most; `privateBytes`: the part that is not a file. */
export type Server = {
  readonly port: number;
  cpuSeconds(): number;
  /** With all processes that it has started and that have ended. */
  treeCpuSeconds(): number;
  rssBytes(): number;
  privateBytes(): number;
  /** Its share of the memory that it has in common with others. */
  proportionalBytes(): number;
  peakBytes(): number;
  stop(): Promise<void>;
};

const ROOT = join(import.meta.dirname, '..');

/** Starts a script of the repository with PORT, and waits for the first response at `ready`. */
export async function startServer(
  script: string,
  environment: Readonly<Record<string, string>>,
  ready: string,
): Promise<Server> {
  const port = await freePort();
  return startProgram(
    {
      command: process.execPath,
      args: [...profiling(script), join(ROOT, script)],
      environment: { ...environment, [portSetting(environment)]: String(port) },
    },
    port,
    ready,
  );
}

/** A worker listens for health checks only. */
const portSetting = ({ MEDIARY_ROLE: role }: Readonly<Record<string, string>>): string =>
  role === 'worker' ? 'HEALTH_PORT' : 'PORT';

type Program = {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
};

/** Starts any program that listens on this port. */
export async function startProgram(
  { command, args, environment }: Program,
  port: number,
  ready: string,
): Promise<Server> {
  const child = spawn(command, args, {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  process.on('exit', () => child.kill('SIGKILL'));
  await waitUntilReady(child, `http://127.0.0.1:${port}${ready}`);
  return {
    port,
    cpuSeconds: () => cpuSecondsOf(child.pid as number),
    treeCpuSeconds: () => treeCpuSecondsOf(child.pid as number),
    rssBytes: () => memoryOf(child.pid as number, 'VmRSS'),
    privateBytes: () => memoryOf(child.pid as number, 'RssAnon'),
    proportionalBytes: () => kilobytesOf(`/proc/${child.pid}/smaps_rollup`, 'Pss'),
    peakBytes: () => memoryOf(child.pid as number, 'VmHWM'),
    stop: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

/** PROFILE names a folder for the CPU profiles of servers. */
const profiling = (script: string): string[] => {
  const folder = process.env['PROFILE'];
  return folder ? ['--cpu-prof', `--cpu-prof-dir=${join(folder, script.split('/')[0] ?? '')}`] : [];
};

async function waitUntilReady(child: ChildProcess, url: string): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`A server exited with code ${child.exitCode}`);
    const isReady = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (isReady) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  }
}

/** User and system time in clock ticks of 10 ms (Linux). */
const cpuSecondsOf = (pid: number): number => sumTicks(pid, [11, 12]);

/** User and system time of a process and of its ended descendants. */
export const treeCpuSecondsOf = (pid: number): number => sumTicks(pid, [11, 12, 13, 14]);

function sumTicks(pid: number, indexes: readonly number[]): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return indexes.reduce((sum, index) => sum + Number(fields[index]), 0) / 100;
}

const memoryOf = (pid: number, field: 'VmRSS' | 'VmHWM' | 'RssAnon'): number =>
  kilobytesOf(`/proc/${pid}/status`, field);

function kilobytesOf(file: string, field: string): number {
  const lines = readFileSync(file, 'utf8').split('\n');
  const line = lines.find((text) => text.startsWith(`${field}:`));
  return Number(/\d+/.exec(line ?? '')?.[0]) * 1024;
}
