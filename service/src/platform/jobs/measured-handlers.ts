// Measures the runs of jobs.
import { LONG_DURATIONS, type Metrics, secondsSince } from '../observability/metrics.ts';
import type { JobHandlers, SlotRun } from './job-queue.ts';

const RUNS = {
  name: 'mediary_job_runs_total',
  help: 'Runs of jobs that ended in this process, by queue and result; interrupted: the process stops.',
  labels: ['queue', 'result'],
} as const;

const DURATIONS = {
  name: 'mediary_job_run_duration_seconds',
  help: 'Time of the runs of jobs in this process, by queue.',
  labels: ['queue'],
  buckets: LONG_DURATIONS,
} as const;

type Handler = (run: SlotRun<object>) => Promise<void>;

/** The job of a failed run is retried while it has retries left. */
export type EndedRun = {
  readonly job: string;
  readonly payload: object;
  /** A run that the process stops, or whose lease is lost, is `interrupted`; another process repeats it. */
  readonly result: 'succeeded' | 'failed' | 'interrupted';
  readonly seconds: number;
  /** Of a failed run. */
  readonly error?: unknown;
};

type RunObserver = { readonly metrics: Metrics; readonly onEnd: (run: EndedRun) => void };

export function measureHandlers<P extends Readonly<Record<string, object>>>(
  handlers: JobHandlers<P>,
  { metrics, onEnd }: RunObserver,
): JobHandlers<P> {
  const end = (run: EndedRun): void => {
    const { job: queue, result, seconds } = run;
    metrics.count(RUNS, { queue, result });
    metrics.observe(DURATIONS, { queue }, seconds);
    onEnd(run);
  };
  const measure =
    (job: string, handler: Handler): Handler =>
    async (run) => {
      const startMs = performance.now();
      const { payload, signal } = run;
      try {
        await handler(run);
        end({ job, payload, result: 'succeeded', seconds: secondsSince(startMs) });
      } catch (error) {
        const seconds = secondsSince(startMs);
        if (signal.aborted) end({ job, payload, result: 'interrupted', seconds });
        else end({ job, payload, result: 'failed', seconds, error });
        throw error;
      }
    };
  const measured = Object.entries(handlers).map(([queue, handler]) => [
    queue,
    measure(queue, handler as Handler),
  ]);
  return Object.fromEntries(measured) as JobHandlers<P>;
}
