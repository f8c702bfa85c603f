// Does one thing with many assets, a few at a time, and tells what failed.
import type { Asset } from '@mediary/client';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import { refreshAssets } from '../../../api/assets.ts';

export type BulkAction = {
  /** As in "3 assets were tagged". */
  readonly participle: string;
  readonly run: (asset: Asset) => Promise<unknown>;
};

export type BulkRun = {
  readonly action: BulkAction;
  readonly total: number;
  readonly done: number;
  readonly failures: readonly { readonly asset: Asset; readonly error: unknown }[];
  readonly isRunning: boolean;
  readonly isStopped: boolean;
};

export type Bulk = {
  readonly run: BulkRun | undefined;
  readonly start: (assets: readonly Asset[], action: BulkAction) => void;
  readonly stop: () => void;
  readonly dismiss: () => void;
};

const CONCURRENCY = 4;

/** `onDone` gets the ids of those that succeeded. */
export function useBulk(onDone: (ids: ReadonlySet<string>) => void): Bulk {
  const queries = useQueryClient();
  const [run, setRun] = useState<BulkRun>();
  const isStopped = useRef(false);
  const change = useCallback(
    (members: (current: BulkRun) => Partial<BulkRun>) =>
      setRun((current) => current && { ...current, ...members(current) }),
    [],
  );
  const start = (assets: readonly Asset[], action: BulkAction): void => {
    isStopped.current = false;
    setRun({ action, total: assets.length, done: 0, failures: [], isRunning: true, isStopped: false });
    const waiting = [...assets];
    const succeeded = new Set<string>();
    const work = async (): Promise<void> => {
      for (let asset = waiting.shift(); asset && !isStopped.current; asset = waiting.shift()) {
        const failed = await runOne(action, asset);
        if (failed === undefined) succeeded.add(asset.id);
        change(({ done, failures }) =>
          failed === undefined ? { done: done + 1 } : { failures: [...failures, failed] },
        );
      }
    };
    void Promise.all(Array.from({ length: CONCURRENCY }, work)).then(() => {
      change(() => ({ isRunning: false, isStopped: isStopped.current }));
      onDone(succeeded);
      return refreshAssets(queries);
    });
  };
  const stop = (): void => {
    isStopped.current = true;
  };
  return { run, start, stop, dismiss: () => setRun(undefined) };
}

type Failed = BulkRun['failures'][number];

async function runOne({ run }: BulkAction, asset: Asset): Promise<Failed | undefined> {
  try {
    await run(asset);
    return undefined;
  } catch (error) {
    return { asset, error };
  }
}
