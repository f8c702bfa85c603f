// Ends the work of an import's run when it is not needed any more, or when it has to give its slot back.
import { watchCondition } from '../../platform/concurrency/condition-watch.ts';
import { watchHeldSlot } from '../../platform/concurrency/held-work.ts';
import type { JobSlot } from '../../platform/jobs/job-slot.ts';
import type { UploadsContext } from '../context.ts';
import { mayKeepSlot } from './import-pace.ts';
import { deferRun, type ImportRun, isCurrentRun } from './import-runs.ts';

type RunWork<T> = {
  readonly run: ImportRun;
  /** Aborts when the worker stops. */
  readonly signal: AbortSignal;
  /** How long earlier runs of the step held a slot; default: 0. */
  readonly heldMs?: number;
  readonly work: (signal: AbortSignal) => Promise<T>;
};

/**
 * `over`: the asset was deleted, moved on, or has a later run, which is noticed within seconds. Throws if the
 * worker stops.
 */
export async function whileCurrent<T>(
  ctx: UploadsContext,
  { run, signal, heldMs = 0, work }: RunWork<T>,
): Promise<T | 'over' | 'timeout'> {
  const over = new AbortController();
  const timeout = AbortSignal.timeout(
    Math.max(ctx.settings.importLimits.importTimeoutSeconds * 1000 - heldMs, 0),
  );
  const watch = watchCondition(() => isCurrentRun(ctx, run), {
    onEnd: () => over.abort(),
    onError: (err) => ctx.log.warn({ asset_id: run.asset.id, err }, 'the state of an import is not known'),
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

/** Bytes that a run has moved; `isResumable`: the next run continues after them. */
export type MovedBytes = { bytes: number; isResumable: boolean };

type SlotWork<T> = Pick<RunWork<T>, 'run' | 'signal'> & {
  readonly slot: JobSlot;
  readonly work: (signal: AbortSignal, moved: MovedBytes) => Promise<T>;
};

/** The same; also `over` if the run gave its slot back, so that the import continues later. */
export async function whileSlotIsKept<T>(
  ctx: UploadsContext,
  { run, signal, slot, work }: SlotWork<T>,
): Promise<T | 'over' | 'timeout'> {
  const startedAt = performance.now();
  const moved: MovedBytes = { bytes: 0, isResumable: false };
  const watch = watchHeldSlot({
    isWanted: slot.isWanted,
    mayKeep: (heldMs) => mayKeepSlot({ heldMs, ...moved }),
    onError: (err) => ctx.log.warn({ asset_id: run.asset.id, err }, 'the queue of imports is not known'),
  });
  try {
    const keeping = (ended: AbortSignal) => work(AbortSignal.any([ended, watch.signal]), moved);
    return await whileCurrent(ctx, { run, signal, heldMs: run.heldMs, work: keeping });
  } catch (error) {
    if (signal.aborted || !watch.signal.aborted) throw error;
    const hasProgress = moved.isResumable && moved.bytes > 0;
    await deferRun(ctx, run, { slot, heldMs: performance.now() - startedAt, hasProgress });
    return 'over';
  } finally {
    watch.close();
  }
}
