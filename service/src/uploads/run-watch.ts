// Ends the work of an import's run when it is not needed any more.
import { watchCondition } from '../platform/concurrency/condition-watch.ts';
import type { Bound } from '../platform/bind.ts';
import type { ImportRun, isCurrentRun } from './import-runs.ts';

type WatchNeeds = {
  readonly isCurrentRun: Bound<typeof isCurrentRun>;
  readonly importTimeoutSeconds: number;
  readonly log: { warn(facts: object, message: string): void };
};

type RunWork<T> = {
  readonly run: ImportRun;
  /** Aborts when the worker stops. */
  readonly signal: AbortSignal;
  readonly work: (signal: AbortSignal) => Promise<T>;
};

/**
 * `over`: the asset was deleted, moved on, or has a later run, which is noticed within seconds. Throws if the
 * worker stops.
 */
export async function whileCurrent<T>(
  needs: WatchNeeds,
  { run, signal, work }: RunWork<T>,
): Promise<T | 'over' | 'timeout'> {
  const over = new AbortController();
  const timeout = AbortSignal.timeout(needs.importTimeoutSeconds * 1000);
  const watch = watchCondition(() => needs.isCurrentRun(run), {
    onEnd: () => over.abort(),
    onError: (err) => needs.log.warn({ asset_id: run.asset.id, err }, 'the state of an import is not known'),
  });
  try {
    return await work(AbortSignal.any([signal, over.signal, timeout]));
  } catch (error) {
    if (over.signal.aborted) return 'over';
    // The error of an aborted request would be stored with the job.
    if (signal.aborted) throw new Error('the import was interrupted');
    if (timeout.aborted) return 'timeout';
    throw error;
  } finally {
    watch.close();
  }
}
