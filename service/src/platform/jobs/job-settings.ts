// Settings of a job, and the names of its queues: pure.

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
  /** Schedule as a cron expression in UTC. */
  readonly cron?: string;
  /**
   * Each lane is a queue that only some processes work on; the member `lane` of a payload names it. A job
   * waits for such a process, and an equal job is not queued again while it waits.
   */
  readonly lanes?: readonly string[];
};

/** The queues of a job: one for each of the lanes, if it has lanes. */
export const queuesOf = (name: string, { lanes }: JobSettings, chosen = lanes): readonly string[] =>
  lanes === undefined
    ? [name]
    : lanes.filter((lane) => chosen?.includes(lane)).map((lane) => `${name}.${lane}`);

export const queueOf = (name: string, { lanes }: JobSettings, payload: { readonly lane?: string }): string =>
  lanes === undefined ? name : `${name}.${payload.lane}`;

/** With the policy `short`, one job of each key can wait. */
export const laneOptions = ({ lanes }: JobSettings, payload: object) =>
  lanes === undefined ? {} : { singletonKey: Object.values(payload).join('/') };
