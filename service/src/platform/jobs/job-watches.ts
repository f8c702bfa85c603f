// What a process with workers watches for: due jobs, lost runs and schedules.
import type { JobDatabase } from '../postgres/job-database.ts';
import { watchDueJobs } from './due-jobs.ts';
import type { JobControl } from './job-control.ts';
import { watchSchedules } from './job-schedule.ts';
import { type JobSettings, queuesOf } from './job-settings.ts';

/** The operations of pg-boss. */
type Boss = {
  send(queue: string, data: object, options: { singletonSeconds: number }): Promise<unknown>;
  supervise(queue: string): Promise<void>;
  getWipData(): readonly { readonly id: string; readonly name: string; readonly count: number }[];
  notifyWorker(id: string): void;
};

type JobWatch = {
  readonly boss: Boss;
  readonly db: JobDatabase;
  readonly settings: Readonly<Record<string, JobSettings>>;
  readonly control: Pick<JobControl, 'takeHasRun'>;
  readonly stopping: AbortSignal;
  readonly onError: (error: Error) => void;
};

export const watchDue = ({ boss, db, settings, control, ...watch }: JobWatch): Promise<void> =>
  watchDueJobs(db, {
    ...watch,
    queues: Object.entries(settings).flatMap(([name, job]) => queuesOf(name, job)),
    onDue: (queue) => notifyWorkers(boss, queue),
    endLostRuns: (queue) => boss.supervise(queue),
    hasRun: control.takeHasRun,
  });

/** `isNeeded`: scheduled jobs that are sent only if there is something to do. */
export const watchScheduled = (
  { boss, settings, stopping, onError }: JobWatch,
  isNeeded: Readonly<Record<string, (() => Promise<boolean>) | undefined>>,
): Promise<void> =>
  watchSchedules({
    jobs: Object.entries(settings).flatMap(([name, { schedule }]) => (schedule ? [{ name, schedule }] : [])),
    send: async ({ name, schedule }) => {
      if (await (isNeeded[name]?.() ?? true))
        await boss.send(name, {}, { singletonSeconds: schedule.everyMinutes * 60 });
    },
    stopping,
    onError,
  });

/**
 * With batches of one, pg-boss cannot know that more jobs wait and would wait for its next poll. `minRunning`
 * 1: busy workers only, which look for a job when their run ends.
 */
export function notifyWorkers(boss: Boss, queue: string, minRunning = 0): void {
  for (const { id, name, count } of boss.getWipData())
    if (name === queue && count >= minRunning) boss.notifyWorker(id);
}
