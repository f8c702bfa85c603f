// Repeats work at an interval until the process stops.
import { setInterval } from 'node:timers/promises';

type Repetition = {
  readonly everyMs: number;
  readonly stopping: AbortSignal;
  /** Of one run: the next ones go on. */
  readonly onError: (error: Error) => void;
};

/** Runs until `stopping`. The first run is after one interval. */
export async function repeatUntilStopped(
  { everyMs, stopping, onError }: Repetition,
  work: () => Promise<void>,
): Promise<void> {
  try {
    for await (const _ of setInterval(everyMs, undefined, { signal: stopping, ref: false }))
      await work().catch(onError);
  } catch (error) {
    if (!stopping.aborted) throw error; // The signal ends the interval.
  }
}
