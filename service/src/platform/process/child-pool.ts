// A pool of sandboxed child processes for one kind of task: fair scheduling, a deadline, and a new child after each failure.
import type { ChildProcess } from 'node:child_process';
import { type ChildProgram, killChild, startChild } from './child.ts';
import { type ChildTask, runChildTask, type TaskOutcome } from './child-task.ts';
import { openFairSlots } from './fair-slots.ts';

export type ChildPoolOptions = ChildProgram & {
  readonly children: number;
  /** Maximum number of children that work for one owner at once. */
  readonly perOwner?: number;
  /** How long a caller waits for a free child. */
  readonly waitMs?: number;
  /** An idle child is stopped after this time. */
  readonly idleMs?: number;
};

export type ChildPool = {
  /** Rejects with reason `busy` when no child is free in time, and with the errors of the task's callbacks. */
  run<T>(task: ChildTask<T>, owner?: string): Promise<TaskOutcome<T>>;
  close(): Promise<void>;
};

/** Holds one child, which is started for its first task and reused for the next. */
type Slot = { child: Promise<ChildProcess> | undefined; idle: NodeJS.Timeout | undefined };

const IDLE_MS = 60_000;

export function openChildPool(options: ChildPoolOptions): ChildPool {
  const { children, perOwner = children, waitMs = Number.POSITIVE_INFINITY, idleMs = IDLE_MS } = options;
  const slots = Array.from({ length: children }, (): Slot => ({ child: undefined, idle: undefined }));
  const fairSlots = openFairSlots(slots, { perOwner, waitMs });
  let isClosed = false;
  return {
    async run(task, owner = '') {
      const slot = await fairSlots.acquire(owner);
      clearTimeout(slot.idle);
      try {
        if (isClosed) throw new Error('the process pool is closed');
        const outcome = await runInSlot(slot, options, task);
        if (isClosed && 'failed' in outcome) throw new Error('the process pool is closed');
        return outcome;
      } finally {
        slot.idle = setTimeout(() => void stopChild(slot), idleMs).unref();
        fairSlots.release(owner, slot);
      }
    },
    async close() {
      isClosed = true;
      for (const { idle } of slots) clearTimeout(idle);
      await Promise.all(slots.map(stopChild));
    },
  };
}

/** Reuses a child only after a result, and not when it asked to be retired. */
async function runInSlot<T>(slot: Slot, program: ChildProgram, task: ChildTask<T>): Promise<TaskOutcome<T>> {
  const request = await task.buildRequest();
  let canReuse = false;
  try {
    slot.child ??= startInSlot(slot, program);
    const outcome = await runChildTask(await slot.child, request, task);
    canReuse = 'result' in outcome && outcome.shouldRetire !== true;
    return outcome;
  } finally {
    if (!canReuse) await stopChild(slot);
  }
}

async function startInSlot(slot: Slot, program: ChildProgram): Promise<ChildProcess> {
  const child = await startChild(program);
  return child.once('exit', () => {
    slot.child = undefined;
  });
}

async function stopChild(slot: Slot): Promise<void> {
  const { child } = slot;
  slot.child = undefined;
  // A start error is reported to the caller that started the child.
  await child?.then(killChild, () => {});
}
