// The pool of sandboxed child processes: fair scheduling of all tasks, deadlines, restarts after failures.
import type { ChildProcess } from 'node:child_process';
import {
  type ChildProgram,
  killChild,
  startChild,
  type ChildTask,
  runChildTask,
  type TaskOutcome,
} from './child.ts';
import { type AcquireSlot, openFairSlots, type SlotLimits } from './fair-slots.ts';
import type { Sandbox } from './sandbox.ts';

export type ChildPoolOptions = {
  readonly sandbox: Sandbox;
  /** Maximum number of processes, of all kinds together. */
  readonly processes: number;
  /** A process without a task is stopped after this time. */
  readonly idleMs: number;
};

/** A kind of task, in a group. Kinds with the same program share its processes. */
type TaskKind = { readonly program: ChildProgram; readonly acquire: AcquireSlot };

/** Rejects with reason `busy` when no process is free in time, and with errors of the task's callbacks. */
export type RunTask = <T>(task: ChildTask<T>, owner: string, item?: string) => Promise<TaskOutcome<T>>;

export type ChildPool = {
  /**
   * Each group has reserved processes, so that tasks of other groups cannot block it. A process that the pool
   * does not start holds a slot while it runs.
   */
  addGroup(limits: SlotLimits): AcquireSlot;
  addKind(kind: TaskKind): RunTask;
  close(): Promise<void>;
};

/** Holds one child, which is started for its first task and reused by tasks of the same program. */
type Slot = {
  program: ChildProgram | undefined;
  child: Promise<ChildProcess> | undefined;
  idle: NodeJS.Timeout | undefined;
};

export function openChildPool({ sandbox, processes, idleMs }: ChildPoolOptions): ChildPool {
  const fairSlots = openFairSlots(processes);
  const slots = Array.from(
    { length: processes },
    (): Slot => ({ program: undefined, child: undefined, idle: undefined }),
  );
  /** The most recently released slot is at the end. */
  const free = [...slots];
  let isClosed = false;

  async function run<T>(program: ChildProgram, task: ChildTask<T>): Promise<TaskOutcome<T>> {
    if (isClosed) throw poolClosed();
    const slot = takeSlot(free, program);
    clearTimeout(slot.idle);
    try {
      const outcome = await runInSlot(slot, { sandbox, program }, task);
      if (isClosed && 'failed' in outcome) throw poolClosed();
      return outcome;
    } finally {
      slot.idle = setTimeout(() => void stopChild(slot), idleMs).unref();
      free.push(slot);
    }
  }

  return {
    addGroup: (limits) => fairSlots.addGroup(limits),
    addKind({ program, acquire }) {
      return async (task, owner, item) => {
        const release = await acquire(owner, item);
        try {
          return await run(program, task);
        } finally {
          release();
        }
      };
    },
    async close() {
      isClosed = true;
      for (const { idle } of slots) clearTimeout(idle);
      await Promise.all(slots.map(stopChild));
    },
  };
}

const poolClosed = () => new Error('the process pool is closed');

/** Prefers a slot whose child runs the program, then one without a child, then the least recently used. */
function takeSlot(free: Slot[], program: ChildProgram): Slot {
  const running = free.findLastIndex((slot) => slot.child !== undefined && slot.program === program);
  const empty = free.findIndex(({ child }) => child === undefined);
  const [slot] = free.splice(running >= 0 ? running : Math.max(empty, 0), 1);
  if (!slot) throw new Error('more tasks run than there are processes');
  return slot;
}

type SandboxedProgram = { readonly sandbox: Sandbox; readonly program: ChildProgram };

/** Reuses a child only after a result, and not when it asked to be retired. */
async function runInSlot<T>(
  slot: Slot,
  sandboxed: SandboxedProgram,
  task: ChildTask<T>,
): Promise<TaskOutcome<T>> {
  const request = await task.buildRequest();
  let canReuse = false;
  try {
    const outcome = await runChildTask(await childFor(slot, sandboxed), request, task);
    canReuse = 'result' in outcome && outcome.shouldRetire !== true;
    return outcome;
  } finally {
    if (!canReuse) await stopChild(slot);
  }
}

async function childFor(slot: Slot, { sandbox, program }: SandboxedProgram): Promise<ChildProcess> {
  if (slot.program !== program) await stopChild(slot);
  if (slot.child) return slot.child;
  const starting = startChild(sandbox, program);
  slot.program = program;
  slot.child = starting;
  const child = await starting;
  return child.once('exit', () => {
    // The slot may already have a new child.
    if (slot.child === starting) slot.child = undefined;
  });
}

async function stopChild(slot: Slot): Promise<void> {
  const { child } = slot;
  slot.child = undefined;
  // A start error is reported to the caller that started the child.
  await child?.then(killChild, () => {});
}
