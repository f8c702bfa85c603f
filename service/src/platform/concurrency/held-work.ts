// How much of a kind of work one owner may hold, and when work gives its slot back to an owner that waits.
import { watchCondition } from './condition-watch.ts';

/** All slots but one, which stays free for others. Work that holds the only slot has to give it back. */
export const maxHeldSlots = (slots: number): number => Math.max(1, slots - 1);

/** A slot that work holds. */
type HeldSlot = {
  /** Whether an owner that holds no slot of the kind waits for one. */
  readonly isWanted: () => Promise<boolean>;
  /** Whether the work may keep its slot after this time although another owner waits. */
  readonly mayKeep: (heldMs: number) => boolean;
  /** The state of the queue is not known: the work keeps its slot until the next check. */
  readonly onError: (error: unknown) => void;
};

/** `signal` aborts when the work should give its slot back. */
type SlotWatch = { readonly signal: AbortSignal; readonly close: () => void };

/** Checks every second. */
export function watchHeldSlot({ isWanted, mayKeep, onError }: HeldSlot): SlotWatch {
  const startedAt = performance.now();
  const due = new AbortController();
  const watch = watchCondition(async () => mayKeep(performance.now() - startedAt) || !(await isWanted()), {
    onEnd: () => due.abort(),
    onError,
  });
  return { signal: due.signal, close: watch.close };
}
