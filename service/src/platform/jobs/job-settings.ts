// Settings of a job, and the names of its queues: pure.
import type { JobSchedule } from './job-schedule.ts';

/** Settings of one queue. Times are in seconds. */
export type JobSettings = {
  /** Maximum number of running jobs in one process. */
  readonly concurrency: number;
  /** A run that takes longer fails and is retried. */
  readonly expireIn: number;
  readonly retries: number;
  /** Delay before the first retry; doubles with each retry up to `retryDelayMax`, if set. */
  readonly retryDelay: number;
  readonly retryDelayMax?: number;
  /**
   * Schedules jobs fairly by owner; every job of such a queue needs an owner. One owner holds at most all
   * slots but one of a process.
   */
  readonly fair?: true;
  readonly schedule?: JobSchedule;
  /**
   * Each provider has a queue, which only some processes serve; the member `provider` of a payload names it.
   * A job waits for such a process, and an equal job is not queued again while it waits.
   */
  readonly providers?: readonly string[];
};

/** The queues of a job: one for each of the providers, if there are any. */
export const queuesOf = (name: string, { providers }: JobSettings, chosen = providers): readonly string[] =>
  providers === undefined
    ? [name]
    : providers.filter((provider) => chosen?.includes(provider)).map((provider) => `${name}.${provider}`);

export const queueOf = (
  name: string,
  { providers }: JobSettings,
  payload: { readonly provider?: string },
): string => (providers === undefined ? name : `${name}.${payload.provider}`);

/** With the policy `short`, one job of each key can wait. */
export const providerOptions = ({ providers }: JobSettings, payload: object) =>
  providers === undefined ? {} : { singletonKey: Object.values(payload).join('/') };
