// The skeleton of jobs that claim work: they stop when the claim is lost, and give it back when interrupted.
import { watchCondition } from '../concurrency/condition-watch.ts';

/** `signal`: also aborted when the claim is lost. */
export type ClaimedRun = { readonly signal: AbortSignal; readonly supersede: () => void };

export type ClaimedJob = {
  /** Aborted when the process stops. */
  readonly signal: AbortSignal;
  /** False when another worker has the work, or nobody needs it. Checked each second. */
  readonly isCurrent: () => Promise<boolean>;
  readonly onCheckError: (error: unknown) => void;
  readonly work: (run: ClaimedRun) => Promise<void>;
  /** Called when the work may no longer be published. */
  readonly discard: () => Promise<void>;
  /** Called for any other error, before it is thrown. `isStopped`: by the process, not by the work. */
  readonly fail: (error: unknown, isStopped: boolean) => Promise<void>;
};

/** Throws the errors of `work`, so that the queue repeats the job. */
export async function runClaimedJob(job: ClaimedJob): Promise<'done' | 'superseded'> {
  const superseded = new AbortController();
  const supersede = () => superseded.abort();
  const watch = watchCondition(job.isCurrent, { onEnd: supersede, onError: job.onCheckError });
  try {
    await job.work({ signal: AbortSignal.any([job.signal, superseded.signal]), supersede });
    return 'done';
  } catch (error) {
    // A deletion may make a write fail before the watch notices it.
    if (!superseded.signal.aborted && (await job.isCurrent())) {
      await job.fail(error, job.signal.aborted);
      throw error;
    }
    await job.discard();
    return 'superseded';
  } finally {
    watch.close();
  }
}
