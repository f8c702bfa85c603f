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

type Handler = (run: SlotRun<never>) => Promise<void>;

/** A run that the process stops, or whose lease is lost, is `interrupted`; another process repeats it. */
export function measureHandlers<P extends Readonly<Record<string, object>>>(
  handlers: JobHandlers<P>,
  metrics: Metrics,
): JobHandlers<P> {
  const measure = (queue: string, handler: Handler): Handler => {
    const end = (result: 'succeeded' | 'failed' | 'interrupted', startMs: number) => {
      metrics.count(RUNS, { queue, result });
      metrics.observe(DURATIONS, { queue }, secondsSince(startMs));
    };
    return async (run) => {
      const startMs = performance.now();
      try {
        await handler(run);
        end('succeeded', startMs);
      } catch (error) {
        end(run.signal.aborted ? 'interrupted' : 'failed', startMs);
        throw error;
      }
    };
  };
  const measured = Object.entries(handlers).map(([queue, handler]) => [
    queue,
    measure(queue, handler as Handler),
  ]);
  return Object.fromEntries(measured) as JobHandlers<P>;
}
