// A time: how long ago, and exactly when on hover and for screen readers.
import { Tooltip } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { formatRelative } from './format.ts';

const TICK_MS = 10_000;

function everyTick(onTick: () => void): () => void {
  const timer = setInterval(onTick, TICK_MS);
  return () => clearInterval(timer);
}

const currentTick = (): number => Math.floor(Date.now() / TICK_MS);

export function Time({ at }: { readonly at: string }) {
  useSyncExternalStore(everyTick, currentTick);
  const exact = new Date(at).toLocaleString();
  return (
    <Tooltip label={exact} withArrow>
      <time dateTime={at} title={exact}>
        {formatRelative(at, Date.now())}
      </time>
    </Tooltip>
  );
}
