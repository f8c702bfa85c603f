// A time: how long ago, and exactly when on hover and for screen readers.
import { useSyncExternalStore } from 'react';
import { formatRelative } from './format.ts';

const TICK_MS = 10_000;

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** One timer for all times of the page. */
function everyTick(onTick: () => void): () => void {
  listeners.add(onTick);
  timer ??= setInterval(() => {
    for (const listener of listeners) listener();
  }, TICK_MS);
  return () => {
    listeners.delete(onTick);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

const currentTick = (): number => Math.floor(Date.now() / TICK_MS);

export function Time({ at }: { readonly at: string }) {
  useSyncExternalStore(everyTick, currentTick);
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {formatRelative(at, Date.now())}
    </time>
  );
}
