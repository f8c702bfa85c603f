// Sends jobs by their schedules. Every process with workers does, and the queue keeps one job of each period.
import { repeatUntilStopped } from '../concurrency/repeat-until.ts';

export type JobSchedule = {
  /** At most 60: the queue knows completed jobs for an hour. */
  readonly everyMinutes: number;
  /** Minute of the period in which the job is due; default 0. */
  readonly atMinute?: number;
};

const MINUTE_MS = 60_000;
const CHECK_MS = 10_000;

/** The number of the period that a time lies in. A period begins when its job is due. */
export const periodOf = ({ everyMinutes, atMinute = 0 }: JobSchedule, timeMs: number): number =>
  Math.floor((timeMs / MINUTE_MS - atMinute) / everyMinutes);

type ScheduledJob = { readonly name: string; readonly schedule: JobSchedule };

type Options = {
  readonly jobs: readonly ScheduledJob[];
  readonly send: (job: ScheduledJob) => Promise<void>;
  readonly stopping: AbortSignal;
  readonly onError: (error: Error) => void;
};

/** Returns a function that sends the jobs whose periods began since the last call, or in the last minute. */
export function createScheduler(
  { jobs, send }: Pick<Options, 'jobs' | 'send'>,
  now: () => number = Date.now,
): () => Promise<void> {
  const begun = new Map(jobs.map(({ name, schedule }) => [name, periodOf(schedule, now() - MINUTE_MS)]));
  return async () => {
    for (const job of jobs) {
      const period = periodOf(job.schedule, now());
      if (period === begun.get(job.name)) continue;
      await send(job);
      begun.set(job.name, period);
    }
  };
}

/** Runs until `stopping`. */
export async function watchSchedules({ stopping, onError, ...options }: Options): Promise<void> {
  const sendDue = createScheduler(options);
  await sendDue().catch(onError);
  await repeatUntilStopped({ everyMs: CHECK_MS, stopping, onError }, sendDue);
}
