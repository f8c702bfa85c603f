// A service whose clock can be moved and whose jobs can be lost, for tests of the jobs that run by the clock.
import type { Adapters } from '../../../service/src/adapters.ts';
import type { JobPayloads } from '../../../service/src/jobs.ts';
import { eventually, startTestService, type TestService } from '../service.ts';

type JobName = keyof JobPayloads;
type ClockJob = 'reconcile' | 'expire-uploads' | 'expire-assets' | 'empty-trash';
export type ClockedService = {
  readonly service: TestService;
  /** The moved clock, in milliseconds. */
  readonly now: () => number;
  /** Moves the clock on and sends the job. */
  readonly startAfter: (minutes: number, job: ClockJob) => Promise<void>;
  /** The same, and waits for the end of the job. */
  readonly runAfter: (minutes: number, job: ClockJob) => Promise<void>;
  /** Loses all jobs of a name that the work sends. */
  readonly withLost: <T>(name: JobName, work: () => Promise<T>) => Promise<T>;
};

export async function startClockedService(settings: Record<string, string> = {}): Promise<ClockedService> {
  const lost = new Set<JobName>();
  let offset = 0;
  const now = (): number => Date.now() + offset;
  const service = await startTestService(settings, {
    now: () => new Date(now()),
    wrapAdapters: (adapters) => losing(adapters, lost),
  });
  const { jobs, db } = service.adapters;
  const startAfter = async (minutes: number, job: ClockJob): Promise<void> => {
    offset += minutes * 60_000;
    await db.transaction((tx) => jobs.send(tx, job, {}));
  };
  return {
    service,
    now,
    startAfter,
    runAfter: async (minutes, job) => {
      await startAfter(minutes, job);
      await eventually(
        () => jobs.hasOpenJob(job, {}),
        (isOpen) => !isOpen,
      );
    },
    withLost: async (name, work) => {
      lost.add(name);
      return work().finally(() => lost.delete(name));
    },
  };
}

const losing = (adapters: Adapters, lost: ReadonlySet<JobName>): Adapters => ({
  ...adapters,
  jobs: {
    ...adapters.jobs,
    send: async (tx, name, payload) => (lost.has(name) ? undefined : adapters.jobs.send(tx, name, payload)),
    sendFor: async (tx, owner, job) =>
      lost.has(job.name) ? undefined : adapters.jobs.sendFor(tx, owner, job),
  },
});
