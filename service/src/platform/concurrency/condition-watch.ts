// Asks each second whether a condition still holds that another process may end.
import { setInterval } from 'node:timers/promises';

export type ConditionWatch = { readonly close: () => void };

type Listeners = {
  /** Called once. */
  readonly onEnd: () => void;
  /** The question failed: the condition counts as holding, and the next second asks again. */
  readonly onError: (error: unknown) => void;
};

const PERIOD_MS = 1000;

export function watchCondition(
  isHolding: () => Promise<boolean>,
  { onEnd, onError }: Listeners,
): ConditionWatch {
  const closing = new AbortController();
  const ask = async (): Promise<boolean> => {
    try {
      return await isHolding();
    } catch (error) {
      onError(error);
      return true;
    }
  };
  const watching = async (): Promise<void> => {
    for await (const _ of setInterval(PERIOD_MS, undefined, { signal: closing.signal, ref: false }))
      if (!(await ask()) && !closing.signal.aborted) {
        onEnd();
        return;
      }
  };
  watching().catch((error: unknown) => {
    if (!closing.signal.aborted) throw error; // Closing is what ends the interval.
  });
  return { close: () => closing.abort() };
}
