// Starts one sandboxed Node process with IPC. Threads are not used because native code cannot be stopped in a thread, and its crash ends the process.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ProcessLimits, Sandbox } from './sandbox.ts';

export type ChildProgram = {
  /** Worker script; it must send one message when it is ready. */
  readonly script: URL;
  /** Command line flags for Node. */
  readonly flags: readonly string[];
  readonly limits: ProcessLimits;
};

/** Limits threads and malloc arenas, because each reserves memory that counts against the limit. */
const ENVIRONMENT = { MALLOC_ARENA_MAX: '2', UV_THREADPOOL_SIZE: '2' };
const FLAGS = ['--v8-pool-size=1'];
const NICENESS = 5;
const START_MS = 60_000;

/** The child does not inherit the environment, output or files, and exits when the service exits. */
export async function startChild(
  sandbox: Sandbox,
  { script, flags, limits }: ChildProgram,
): Promise<ChildProcess> {
  const node = [process.execPath, ...FLAGS, ...flags, fileURLToPath(script)];
  const { file, args } = sandbox.command({ file: 'nice', args: ['-n', `${NICENESS}`, ...node] }, limits);
  const child = spawn(file, args, {
    cwd: '/',
    env: ENVIRONMENT,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
    detached: true,
  });
  child.on('error', () => {}); // Without a listener the event would end the service; callers see the exit event.
  try {
    await waitUntilReady(child);
  } catch (error) {
    await killChild(child);
    throw error;
  }
  child.unref();
  child.channel?.unref();
  return child;
}

async function waitUntilReady(child: ChildProcess): Promise<void> {
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

/** Kills the child's process group and waits for its exit. */
export async function killChild(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.ref();
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL'); // The process group does not exist yet.
  }
  await exited;
}
