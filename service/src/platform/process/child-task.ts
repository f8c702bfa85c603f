// Runs one task in a child process: a request, replies to the child's messages, and a result before the deadline.
import type { ChildProcess } from 'node:child_process';
import { readCpuMs } from './process-tree.ts';

export type HandledMessage<T> =
  | { readonly reply: object }
  /** `shouldRetire`: the child must not be reused. */
  | { readonly result: T; readonly shouldRetire?: boolean };

export type ChildTask<T> = {
  readonly deadlineMs: number;
  /** Builds the first message once a child is free. The deadline starts after it. */
  readonly buildRequest: () => object | Promise<object>;
  /** Handles a message of the child: returns a reply or the result. */
  readonly onMessage: (message: unknown) => HandledMessage<T> | Promise<HandledMessage<T>>;
};

/**
 * `died`: the child exited; `late`: the child was busy at the deadline; `unanswered`: the child waited for a reply at the deadline;
 * `starved`: the machine was too busy to give the child enough CPU time.
 */
export type TaskFailure = 'died' | 'late' | 'unanswered' | 'starved';
export type TaskOutcome<T> =
  | { readonly result: T; readonly shouldRetire?: boolean }
  | { readonly failed: TaskFailure };

/** A child that waits for a reply or for CPU time gets this multiple of the deadline. */
const MAX_DEADLINES = 5;
const CPU_SHARE = 0.5;
const RECHECK_MS = 250;

/** Rejects with errors of `onMessage`. */
export async function runChildTask<T>(
  child: ChildProcess,
  request: object,
  { deadlineMs, onMessage }: ChildTask<T>,
): Promise<TaskOutcome<T>> {
  const { promise, resolve, reject } = Promise.withResolvers<TaskOutcome<T>>();
  let pending = 0;
  const handleMessage = async (message: unknown): Promise<void> => {
    pending += 1;
    const handled = await onMessage(message);
    pending -= 1;
    if ('result' in handled) resolve(handled);
    else if (child.connected) child.send(handled.reply, ignoreClosed);
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
  try {
    return await promise;
  } finally {
    deadline.close();
    child.off('message', listener).off('exit', onExit);
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
  const initialCpuMs = readCpuMs(pid);
  let timer = setTimeout(check, deadlineMs);
  let isClosed = false;
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
