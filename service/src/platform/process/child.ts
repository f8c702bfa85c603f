// One sandboxed Node process that talks over IPC. A process, since native code cannot be stopped in a thread and takes all threads with it when it crashes.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ProcessLimits, Sandbox } from './sandbox.ts';

export type ChildProgram = {
  readonly sandbox: Sandbox;
  /** A worker script; it sends one message when it is ready. */
  readonly script: URL;
  /** Flags of Node. */
  readonly flags: readonly string[];
  readonly limits: ProcessLimits;
};

/** Few threads and arenas: each reserves memory that counts against the limit. */
const ENVIRONMENT = { MALLOC_ARENA_MAX: '2', UV_THREADPOOL_SIZE: '2' };
const FLAGS = ['--v8-pool-size=1'];
const NICENESS = 5;
const START_MS = 60_000;

/** It gets no environment of ours, no output and no files, and ends when we do. */
export async function startChild({ sandbox, script, flags, limits }: ChildProgram): Promise<ChildProcess> {
  const node = [process.execPath, ...FLAGS, ...flags, fileURLToPath(script)];
  const { file, args } = sandbox.command({ file: 'nice', args: ['-n', `${NICENESS}`, ...node] }, limits);
  const child = spawn(file, args, {
    cwd: '/',
    env: ENVIRONMENT,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
    detached: true,
  });
  child.on('error', () => {}); // Waiting callers learn of its end; without a listener it would end the service.
  try {
    await readiness(child);
  } catch (error) {
    await killChild(child);
    throw error;
  }
  child.unref();
  child.channel?.unref();
  return child;
}

async function readiness(child: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onExit = (code: number | null, signal: string | null) =>
    reject(new Error(`a decoder process did not start: ${signal ?? `exit code ${code}`}`));
  const onReady = () => resolve();
  const timer = setTimeout(() => reject(new Error('a decoder process did not start in time')), START_MS);
  child.once('error', reject).once('exit', onExit).once('message', onReady);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    child.off('error', reject).off('exit', onExit).off('message', onReady);
  }
}

/** Kills it with all processes of its group and waits for its end. */
export async function killChild(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.ref();
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL'); // It has not become the leader of its group yet.
  }
  await gone;
}
