// A signal that aborts with an OutboundFailed: when time is up, or when the caller aborts.
import { OutboundFailed } from './outbound-failed.ts';

export type Deadline = { readonly signal: AbortSignal; close(): void };

/** `phase` is the detail of the timeout. The deadline must be closed, or its timer keeps running. */
export function openDeadline(ms: number, phase: string, parent?: AbortSignal): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new OutboundFailed('timeout', { detail: phase })), ms);
  const onAbort = () => controller.abort(toAborted(parent?.reason));
  parent?.addEventListener('abort', onAbort, { once: true });
  if (parent?.aborted) onAbort();
  return {
    signal: controller.signal,
    close() {
      clearTimeout(timer);
      parent?.removeEventListener('abort', onAbort);
    },
  };
}

const toAborted = (reason: unknown): OutboundFailed =>
  reason instanceof OutboundFailed ? reason : new OutboundFailed('aborted', { cause: reason });

/** Stops waiting when the signal aborts; the work itself may go on. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
