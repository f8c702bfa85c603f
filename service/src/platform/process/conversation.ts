// One task of a child process: a request, its questions and our replies, and a result before the deadline.
import type { ChildProcess } from 'node:child_process';
import { cpuMsOf } from './process-tree.ts';

export type Heard<T> =
  | { readonly reply: object }
  /** `isWorn`: the child should not be used again. */
  | { readonly result: T; readonly isWorn?: boolean };

export type Conversation<T> = {
  readonly deadlineMs: number;
  /** Makes the first message, once a child is free. Its time does not count. */
  readonly open: () => object | Promise<object>;
  /** Answers a message of the child. */
  readonly hear: (message: unknown) => Heard<T> | Promise<Heard<T>>;
};

/**
 * `died`: the child ended; `late`: it was still busy at the deadline; `unanswered`: it waited for our reply then;
 * `starved`: the machine gave it no CPU time to finish.
 */
export type Failure = 'died' | 'late' | 'unanswered' | 'starved';
export type Outcome<T> = { readonly result: T; readonly isWorn?: boolean } | { readonly failed: Failure };

/** A child that waits for bytes, or for CPU time on a busy machine, may take so many deadlines. */
const MOST_DEADLINES = 5;
const CPU_SHARE = 0.5;
const RECHECK_MS = 250;

/** Rejects with what `hear` throws. */
export async function converse<T>(
  child: ChildProcess,
  request: object,
  { deadlineMs, hear }: Conversation<T>,
): Promise<Outcome<T>> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome<T>>();
  let pending = 0;
  const onMessage = async (message: unknown): Promise<void> => {
    pending += 1;
    const heard = await hear(message);
    pending -= 1;
    if ('result' in heard) resolve(heard);
    else if (child.connected) child.send(heard.reply, ignoreClosed);
  };
  const listener = (message: unknown) => void onMessage(message).catch(reject);
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

/** The exit of the child tells. */
const ignoreClosed = () => {};

type Deadline = {
  readonly deadlineMs: number;
  /** The child waits for our reply. */
  readonly isWaiting: () => boolean;
  readonly onEnd: (failed: Failure) => void;
};

function watchDeadline(pid: number, { deadlineMs, isWaiting, onEnd }: Deadline): { close(): void } {
  const latest = performance.now() + deadlineMs * MOST_DEADLINES;
  const before = cpuMsOf(pid);
  let timer = setTimeout(check, deadlineMs);
  let isClosed = false;
  async function look(): Promise<void> {
    const [first, now] = await Promise.all([before, cpuMsOf(pid)]);
    if (isClosed) return;
    const hasWorked =
      first === undefined || now === undefined ? !isWaiting() : now - first >= deadlineMs * CPU_SHARE;
    if (hasWorked) onEnd('late');
    else if (performance.now() >= latest) onEnd(isWaiting() ? 'unanswered' : 'starved');
    else timer = setTimeout(check, Math.min(RECHECK_MS, deadlineMs));
  }
  function check(): void {
    void look();
  }
  return {
    close: () => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
