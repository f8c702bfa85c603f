// Polls a condition every second until it no longer holds.
import { setInterval } from 'node:timers/promises';
import { withoutSpans } from '../observability/tracing.ts';

type ConditionWatch = { readonly close: () => void };

type Listeners = {
  /** Called once. */
  readonly onEnd: () => void;
  /** The check failed: the condition counts as holding until the next check. */
  readonly onError: (error: unknown) => void;
};

const PERIOD_MS = 1000;

export function watchCondition(
  isHolding: () => Promise<boolean>,
  { onEnd, onError }: Listeners,
): ConditionWatch {
  const closing = new AbortController();
  const check = async (): Promise<boolean> => {
    try {
      return await isHolding();
    } catch (error) {
      onError(error);
      return true;
    }
  };
  const watching = async (): Promise<void> => {
    for await (const _ of setInterval(PERIOD_MS, undefined, { signal: closing.signal, ref: false }))
      if (!(await check()) && !closing.signal.aborted) {
        onEnd();
        return;
      }
  };
  withoutSpans(watching).catch((error: unknown) => {
    if (!closing.signal.aborted) throw error; // close() aborts the interval.
  });
  return { close: () => closing.abort() };
}
