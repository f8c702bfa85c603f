// The events of a stream that are stored already: an event stream itself has no end.
import type { StreamedEvent } from '@mediary/client';

type StoredEventsOptions = {
  /** Ends at the first event after this time. */
  readonly until: Date;
  /** Ends when no event arrives for this time; the first one may take as long as the connection does. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
};

/** `open` gets the signal that ends its stream. */
export async function* readStoredEvents(
  open: (signal: AbortSignal) => Promise<AsyncIterable<StreamedEvent>>,
  { until, silenceMs, signal }: StoredEventsOptions,
): AsyncGenerator<StreamedEvent, void, void> {
  const silent = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (): void => {
    timer = setTimeout(() => silent.abort(), silenceMs);
  };
  try {
    const events = await open(AbortSignal.any([signal, silent.signal]));
    wait();
    for await (const event of events) {
      clearTimeout(timer);
      if (Date.parse(event.at) > until.getTime()) return;
      // The receiver may take its time.
      yield event;
      wait();
    }
  } catch (error) {
    if (signal.aborted || !silent.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
}
