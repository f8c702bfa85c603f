// Starts sandboxed Node processes and runs tasks in them over IPC, each with a deadline.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ProcessLimits, Sandbox } from './sandbox.ts';
import { readCpuMs } from './process-tree.ts';

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

/**
 * The child does not inherit the environment, output or files, and exits when the service exits.
 * A thread would not do, because native code cannot be stopped in a thread and its crash ends the process.
 */
export async function startChild(
  sandbox: Sandbox,
  { script, flags, limits }: ChildProgram,
): Promise<ChildProcess> {
  const node = [process.execPath, ...FLAGS, ...flags, fileURLToPath(script)];
  const { file, args } = sandbox.command({ file: 'nice', args: ['-n', `${NICENESS}`, ...node] }, limits);
  const child = spawn(file, args, {
    cwd: '/',
    env: ENVIRONMENT,
    stdio: ['pipe', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
    detached: true,
  });
  // Without a listener the event would end the service; callers see the exit event.
  child.on('error', () => {});
  child.stdin?.on('error', () => {});
  try {
    await waitUntilReady(child);
  } catch (error) {
    await killChild(child);
    throw error;
  }
  child.unref();
  child.channel?.unref();
  (child.stdin as Socket | null)?.unref();
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

export type HandledMessage<T> =
  | { readonly reply: object }
  /** `shouldRetire`: the child must not be reused. */
  | { readonly result: T; readonly shouldRetire?: boolean };

export type ChildRequest = {
  readonly message: object;
  /** Bytes that the child reads from its standard input. A chunk may be reused when the next is requested. */
  readonly input?: AsyncIterable<Uint8Array>;
};

export type ChildTask<T> = {
  readonly deadlineMs: number;
  /** Builds the request once a child is free. The deadline starts after it. */
  readonly buildRequest: () => ChildRequest | Promise<ChildRequest>;
  /** Handles a message of the child: returns a reply or the result. */
  readonly onMessage: (message: unknown) => HandledMessage<T> | Promise<HandledMessage<T>>;
};

/**
 * `died`: the child exited; `late`: it was busy at the deadline; `unanswered`: it waited for a reply at the
 * deadline; `starved`: the machine was too busy to give it enough CPU time.
 */
export type TaskFailure = 'died' | 'late' | 'unanswered' | 'starved';
export type TaskOutcome<T> =
  | { readonly result: T; readonly shouldRetire?: boolean }
  | { readonly failed: TaskFailure };

/** A child that waits for a reply or for CPU time gets this multiple of the deadline. */
const MAX_DEADLINES = 5;
const CPU_SHARE = 0.5;
const RECHECK_MS = 250;
/** When the CPU time of a task is first read: most have ended by then, and a reading takes milliseconds. */
const FIRST_READING_MS = 100;
const FIRST_READING_SHARE = 0.1;

/** Rejects with errors of `onMessage` and of the input. */
export async function runChildTask<T>(
  child: ChildProcess,
  { message: request, input }: ChildRequest,
  { deadlineMs, onMessage }: ChildTask<T>,
): Promise<TaskOutcome<T>> {
  const { promise, resolve, reject } = Promise.withResolvers<TaskOutcome<T>>();
  let pending = 0;
  const handleMessage = async (message: unknown): Promise<void> => {
    pending += 1;
    const handled = await onMessage(message);
    pending -= 1;
    if ('result' in handled) {
      // What is left in the pipe would become the input of the next task.
      await written;
      resolve(handled);
    } else if (child.connected) child.send(handled.reply, ignoreClosed);
  };
  const listener = (message: unknown) => void handleMessage(message).catch(reject);
  const onExit = () => resolve({ failed: 'died' });
  const deadline = watchDeadline(child.pid ?? 0, {
    deadlineMs,
    isWaiting: () => pending > 0,
    onEnd: (failed) => resolve({ failed }),
  });
  child.on('message', listener).once('exit', onExit);
  child.send(request, (error) => {
    if (error) onExit();
  });
  const written = input && writeInput(child.stdin, input);
  written?.catch(reject);
  try {
    return await promise;
  } finally {
    deadline.close();
    child.off('message', listener).off('exit', onExit);
  }
}

/** The exit event reports a closed pipe. */
async function writeInput(pipe: Writable | null, input: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of input) {
    if (!pipe?.writable) return;
    await new Promise<unknown>((resolve) => pipe.write(chunk, resolve));
  }
}

/** The exit event reports a closed channel. */
const ignoreClosed = () => {};

type Deadline = {
  readonly deadlineMs: number;
  /** True while the child waits for a reply. */
  readonly isWaiting: () => boolean;
  readonly onEnd: (failed: TaskFailure) => void;
};

function watchDeadline(pid: number, { deadlineMs, isWaiting, onEnd }: Deadline): { close(): void } {
  const latest = performance.now() + deadlineMs * MAX_DEADLINES;
  const firstReadingMs = Math.min(FIRST_READING_MS, deadlineMs * FIRST_READING_SHARE);
  let initialCpuMs: ReturnType<typeof readCpuMs> | undefined;
  let timer = setTimeout(start, firstReadingMs);
  let isClosed = false;
  function start(): void {
    initialCpuMs = readCpuMs(pid);
    timer = setTimeout(check, deadlineMs - firstReadingMs);
  }
  async function checkProgress(): Promise<void> {
    const [first, now] = await Promise.all([initialCpuMs, readCpuMs(pid)]);
    if (isClosed) return;
    const hasUsedCpu =
      first === undefined || now === undefined ? !isWaiting() : now - first >= deadlineMs * CPU_SHARE;
    if (hasUsedCpu) onEnd('late');
    else if (performance.now() >= latest) onEnd(isWaiting() ? 'unanswered' : 'starved');
    else timer = setTimeout(check, Math.min(RECHECK_MS, deadlineMs));
  }
  function check(): void {
    void checkProgress();
  }
  return {
    close: () => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
