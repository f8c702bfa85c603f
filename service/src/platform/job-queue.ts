// The job queue: lives in the same database as the state, so that state and job commit together.
import { type Job, PgBoss } from 'pg-boss';
import { type FairOrder, openFairOrder, type Turn } from './fair-order.ts';
import { listOpenJobs, type OpenJob } from './open-jobs.ts';
import type { Connection, Transaction } from './postgres/database.ts';

/** What a queue promises about its jobs. Times in seconds. */
export type JobSettings = {
  /** How many run at once in one process. */
  readonly concurrency: number;
  /** A run that takes longer is taken away. */
  readonly expireIn: number;
  readonly retries: number;
  /** Before the second run; doubles from run to run up to `retryDelayMax` where that is given. */
  readonly retryDelay: number;
  readonly retryDelayMax?: number;
  /** Owners take turns, however many jobs one of them has waiting; every job of such a queue names its owner. */
  readonly fair?: true;
  /** Started by the clock, as a cron expression in UTC. */
  readonly cron?: string;
};

/** One run of a job. `signal` ends it: its claim is lost, or the process is stopping; a handler then throws and the job is run again. */
export type JobRun<T> = { readonly payload: T; readonly signal: AbortSignal };

/** Job name → payload. */
export type Payloads = Readonly<Record<string, object>>;
export type JobSettingsOf<P extends Payloads> = { readonly [N in keyof P]: JobSettings };
export type JobHandlers<P extends Payloads> = {
  readonly [N in keyof P]: (run: JobRun<P[N]>) => Promise<void>;
};

/** What those who start work need. */
export type Jobs<P extends Payloads> = {
  /** Enqueues within the caller's transaction: no commit, no job. */
  send<N extends keyof P & string>(tx: Transaction, name: N, payload: P[N]): Promise<void>;
  /** The same for a job that belongs to an owner, which a fair queue demands. */
  sendFor<N extends keyof P & string>(
    tx: Transaction,
    owner: string,
    job: { readonly name: N; readonly payload: P[N] },
  ): Promise<void>;
  /** Running jobs, then waiting ones in the order in which they will run, up to a bound. */
  listOpen<N extends keyof P & string>(name: N): Promise<OpenJob<P[N]>[]>;
  /** Whether a job with (at least) this payload waits or runs. */
  isUnderWay<N extends keyof P & string>(name: N, payload: Partial<P[N]>): Promise<boolean>;
};

export type JobQueue<P extends Payloads> = Jobs<P> & {
  /** Starts handling; every job of the list has exactly one handler, which the types demand. */
  work(handlers: JobHandlers<P>): Promise<void>;
  /** Hands running jobs back and closes. */
  stop(): Promise<void>;
};

type Opening<P extends Payloads> = {
  readonly connection: Connection;
  readonly settings: JobSettingsOf<P>;
  readonly onError: (error: Error) => void;
};

/** A worker that died is noticed after at most HEARTBEAT + WATCH, well within a minute. */
const HEARTBEAT = 20;
const HEARTBEAT_REFRESH = 5;
const WATCH = 5;
/** New jobs are notified; those that wait for another run are found by looking. */
const POLL = 2;

const UNDER_WAY: readonly string[] = ['created', 'retry', 'active'];

export async function openJobs<P extends Payloads>({
  connection,
  settings,
  onError,
}: Opening<P>): Promise<JobQueue<P>> {
  const boss = new PgBoss({
    ...(connection as object),
    max: 4,
    useListenNotify: true,
    superviseIntervalSeconds: WATCH,
    monitorIntervalSeconds: WATCH,
    connectionTimeoutMillis: 5000,
    reindex: false,
  });
  const stopping = new AbortController();
  // What its connections say on their way out is no news.
  boss.on('error', (error) => {
    if (!stopping.signal.aborted) onError(error);
  });
  await boss.start();
  for (const [name, job] of Object.entries(settings)) await declareQueue(boss, name, job);
  const fairOrder = await openFairOrder(boss.getDb());
  return {
    listOpen: (name) => listOpenJobs(boss.getDb(), name),
    isUnderWay: async (name, payload) =>
      (await boss.findJobs(name, { data: payload })).some(({ state }) => UNDER_WAY.includes(state)),
    send: async (tx, name, payload) => {
      if (settings[name].fair)
        throw new Error(`a job of the fair queue "${name}" needs an owner: use sendFor`);
      await boss.send(name, payload, { db: tx as never });
    },
    sendFor: async (tx, owner, { name, payload }) => {
      const turn = settings[name].fair ? await turnOf(fairOrder, tx, { queue: name, owner }) : {};
      await boss.send(name, payload, { ...turn, db: tx as never });
    },
    work: async (handlers) => {
      for (const [name, job] of Object.entries(settings))
        await startWorker({ boss, name, job, stopping: stopping.signal }, handlers[name]);
    },
    stop: async () => {
      stopping.abort(new Error('the process is stopping'));
      await boss.stop({ graceful: true, timeout: 10_000 });
    },
  };
}

const turnOf = async (order: FairOrder, tx: Transaction, turn: Turn) => ({
  priority: await order.nextPriority(tx, turn),
  group: { id: turn.owner },
});

async function declareQueue(boss: PgBoss, name: string, job: JobSettings): Promise<void> {
  const options = {
    notify: true,
    heartbeatSeconds: HEARTBEAT,
    expireInSeconds: job.expireIn,
    retryLimit: job.retries,
    retryDelay: job.retryDelay,
    retryBackoff: job.retryDelayMax !== undefined,
    ...(job.retryDelayMax !== undefined && { retryDelayMax: job.retryDelayMax }),
    deleteAfterSeconds: 7 * 86_400,
  };
  await boss.createQueue(name, options);
  await boss.updateQueue(name, options);
  if (job.cron) await boss.schedule(name, job.cron, {});
}

type Worker = {
  readonly boss: PgBoss;
  readonly name: string;
  readonly job: JobSettings;
  readonly stopping: AbortSignal;
};

async function startWorker<T>(
  { boss, name, job, stopping }: Worker,
  handler: ((run: JobRun<T>) => Promise<void>) | undefined,
): Promise<void> {
  if (!handler) throw new Error(`job "${name}" has no handler`);
  const options = {
    heartbeatRefreshSeconds: HEARTBEAT_REFRESH,
    pollingIntervalSeconds: POLL,
    notifyPollingIntervalSeconds: POLL,
  };
  for (let lane = 0; lane < job.concurrency; lane++) {
    const worker = await boss.work<T & object>(name, options, async (batch: Job<T & object>[]) => {
      try {
        for (const { data, signal } of batch)
          await handler({ payload: data, signal: AbortSignal.any([signal, stopping]) });
      } finally {
        // More may be waiting: of a batch of one the library cannot tell, and would look again only at its next poll.
        boss.notifyWorker(worker);
      }
    });
  }
}
