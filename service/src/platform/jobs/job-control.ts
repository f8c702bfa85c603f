// What operators see and do with the jobs of all queues, and with the slots of this process.
import type { JobSqlDatabase } from '../postgres/job-database.ts';
import { findJob, type JobFilter, listJobs } from './job-list.ts';
import { type JobSettings, queuesOf } from './job-settings.ts';

/** The operations of pg-boss. */
type Boss = {
  retry(queue: string, id: string): Promise<unknown>;
  cancel(queue: string, id: string): Promise<unknown>;
  update(queue: string, data: undefined, options: { id: string; startAfter: number }): Promise<unknown>;
  offWork(queue: string, options: { wait: boolean }): Promise<void>;
};

/** A queue; `provider` if the job has one queue for each. */
type QueueName = {
  readonly queue: string;
  readonly name: string;
  readonly provider: string | null;
};

/** A run in this process. */
type RunningJob = {
  readonly id: string;
  readonly queue: string;
  readonly payload: object;
  readonly startedAt: Date;
};

/** As the queue gives it to a worker. */
type TakenJob = { readonly id: string; readonly name: string; readonly data: object };

export type JobControl = ReturnType<typeof createJobControl>;

const LONG_RUN_MS = 2000;

type ControlOptions = {
  readonly boss: Boss;
  readonly db: JobSqlDatabase;
  readonly settings: Readonly<Record<string, JobSettings>>;
  readonly searchedMember: string;
};

export function createJobControl({ boss, db, settings, searchedMember }: ControlOptions) {
  const queues: QueueName[] = Object.entries(settings)
    .flatMap(([name, job]) =>
      queuesOf(name, job).map((queue) => ({
        queue,
        name,
        provider: queue === name ? null : queue.slice(name.length + 1),
      })),
    )
    .sort((a, b) => (a.queue < b.queue ? -1 : 1));
  const names = queues.map(({ queue }) => queue);
  let isDraining = false;
  return {
    queues,
    list: (filter: JobFilter) => listJobs(db, searchedMember, filter),
    find: (id: string) => findJob(db, names, id),
    /** Starts a failed job again, with one run more than it had. */
    retry: async (queue: string, id: string): Promise<void> => {
      await boss.retry(queue, id);
    },
    /** Starts a delayed job now. */
    startNow: async (queue: string, id: string): Promise<void> => {
      await boss.update(queue, undefined, { id, startAfter: 0 });
    },
    /** Ends a job that has not ended; the signal of a running one aborts within seconds. */
    cancel: async (queue: string, id: string): Promise<void> => {
      await boss.cancel(queue, id);
    },
    ...createRunTracker(),
    isDraining: () => isDraining,
    /** This process takes no further job until it is started again; its runs continue. */
    drain: async (): Promise<void> => {
      isDraining = true;
      for (const queue of names) await boss.offWork(queue, { wait: false });
    },
  };
}

/** The runs of this process. */
function createRunTracker() {
  const running = new Map<string, RunningJob>();
  let onLongRun = () => {};
  let hasRun = false;
  return {
    /** Whether a job has run in this process since the last call. */
    takeHasRun: (): boolean => {
      const had = hasRun || running.size > 0;
      hasRun = false;
      return had;
    },
    listRunning: (): RunningJob[] => [...running.values()],
    track: async ({ id, name: queue, data: payload }: TakenJob, run: () => Promise<void>) => {
      running.set(id, { id, queue, payload, startedAt: new Date() });
      const timer = setTimeout(() => onLongRun(), LONG_RUN_MS).unref();
      await run().finally(() => {
        hasRun = true;
        clearTimeout(timer);
        running.delete(id);
      });
    },
    /** Calls the listener when a run has lasted two seconds. */
    watchLongRuns: (listener: () => void): void => {
      onLongRun = listener;
    },
  };
}
