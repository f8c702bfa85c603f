// Time limits of any length, under the signal of a caller.
import type { TimeoutError } from '../errors.ts';

/** Timers of more milliseconds fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Runs `end` after a time, which may be infinite. Returns the function that stops the timer. */
function startTimer(end: () => void, ms: number): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const wait = (leftMs: number): void => {
    const next = leftMs > LONGEST_TIMER_MS ? () => wait(leftMs - LONGEST_TIMER_MS) : end;
    timer = setTimeout(next, Math.min(leftMs, LONGEST_TIMER_MS));
  };
  wait(ms);
  return () => clearTimeout(timer);
}

type Deadline = {
  /** Of the caller. */
  readonly signal: AbortSignal | undefined;
  readonly limitMs: number;
  readonly createError: () => TimeoutError;
};

/** Rejects with the reason of the caller's signal or the error of the deadline, whichever comes first. */
export async function withDeadline<T>(
  { signal: outer, limitMs, createError }: Deadline,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outer?.throwIfAborted();
  const controller = new AbortController();
  const abort = (): void => controller.abort(outer?.reason);
  outer?.addEventListener('abort', abort, { once: true });
  const stopTimer = startTimer(() => controller.abort(createError()), limitMs);
  try {
    return await run(controller.signal);
  } catch (error) {
    controller.signal.throwIfAborted();
    throw error;
  } finally {
    stopTimer();
    outer?.removeEventListener('abort', abort);
  }
}
