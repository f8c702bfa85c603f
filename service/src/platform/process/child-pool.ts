// A pool of sandboxed child processes for one kind of work: fair turns, a deadline, and a fresh child after each that failed.
import type { ChildProcess } from 'node:child_process';
import { type ChildProgram, killChild, startChild } from './child.ts';
import { type Conversation, converse, type Outcome } from './conversation.ts';
import { openFairSlots } from './fair-slots.ts';

export type ChildPoolOptions = ChildProgram & {
  readonly children: number;
  /** How many children work for one owner at most. */
  readonly perOwner?: number;
  /** How long a caller waits for its turn. */
  readonly waitMs?: number;
  /** A child that had nothing to do for so long is ended. */
  readonly idleMs?: number;
};

export type ChildPool = {
  /** Rejects with reason `busy` when no child is free in time, and with what the conversation throws. */
  run<T>(conversation: Conversation<T>, owner?: string): Promise<Outcome<T>>;
  close(): Promise<void>;
};

/** Holds one child, started for its first task and kept for the next. */
type Slot = { child: Promise<ChildProcess> | undefined; idle: NodeJS.Timeout | undefined };

const IDLE_MS = 60_000;

export function openChildPool(options: ChildPoolOptions): ChildPool {
  const { children, perOwner = children, waitMs = Number.POSITIVE_INFINITY, idleMs = IDLE_MS } = options;
  const slots = Array.from({ length: children }, (): Slot => ({ child: undefined, idle: undefined }));
  const turns = openFairSlots(slots, { perOwner, waitMs });
  let isClosed = false;
  return {
    async run(conversation, owner = '') {
      const slot = await turns.take(owner);
      clearTimeout(slot.idle);
      try {
        if (isClosed) throw new Error('the process pool is closed');
        const outcome = await runIn(slot, options, conversation);
        if (isClosed && 'failed' in outcome) throw new Error('the process pool is closed');
        return outcome;
      } finally {
        slot.idle = setTimeout(() => void empty(slot), idleMs).unref();
        turns.give(owner, slot);
      }
    },
    async close() {
      isClosed = true;
      for (const { idle } of slots) clearTimeout(idle);
      await Promise.all(slots.map(empty));
    },
  };
}

/** Only a child that has answered, and holds little memory after it, is kept. */
async function runIn<T>(
  slot: Slot,
  program: ChildProgram,
  conversation: Conversation<T>,
): Promise<Outcome<T>> {
  const request = await conversation.open();
  let isKept = false;
  try {
    slot.child ??= startIn(slot, program);
    const outcome = await converse(await slot.child, request, conversation);
    isKept = 'result' in outcome && outcome.isWorn !== true;
    return outcome;
  } finally {
    if (!isKept) await empty(slot);
  }
}

async function startIn(slot: Slot, program: ChildProgram): Promise<ChildProcess> {
  const child = await startChild(program);
  return child.once('exit', () => {
    slot.child = undefined;
  });
}

async function empty(slot: Slot): Promise<void> {
  const { child } = slot;
  slot.child = undefined;
  // The caller that started it is told why a child did not start.
  await child?.then(killChild, () => {});
}
