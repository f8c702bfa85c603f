// The job queue in PostgreSQL: a job commits in the same transaction as the state that it belongs to.
import type { Job, PgBoss } from 'pg-boss';
import { createJobControl, type JobControl } from './job-control.ts';
import { createJobIndexes, hasOpenJob, listOpenJobs, type OpenJob } from './job-order.ts';
import { type JobSubjects, subjectsOf } from './job-subjects.ts';
import { createJobSlot, type JobSlot } from './job-slot.ts';
import { type JobSender, sendJob, type TracedPayload, withTrace } from './send-job.ts';
import { type JobSettings, providerOptions, queueOf, queuesOf } from './job-settings.ts';
import { notifyWorkers, watchDue, watchScheduled } from './job-watches.ts';
import type { SpanAttributes, SpanStart } from '../observability/trace-span.ts';
import { continueTrace } from '../observability/tracing.ts';
import { maxHeldSlots } from '../concurrency/held-work.ts';
import { deleteCompletedJobs, type JobRetention, watchCompletedJobs } from './finished-jobs.ts';
import { openBoss } from './open-boss.ts';
import type { JobDatabase } from '../postgres/job-database.ts';
import type { NotificationChannels } from '../postgres/notifications.ts';
import type { Connection } from '../postgres/connection.ts';
import type { Transaction } from '../postgres/database.ts';

/**
 * One run of a job. `signal` aborts when the lease is lost or the process stops; the handler must then throw,
 * and the job is retried.
 */
export type JobRun<T> = { readonly payload: T; readonly signal: AbortSignal };

/** A run that may give its slot back. */
export type SlotRun<T> = JobRun<T> & { readonly slot: JobSlot };

/** Job name → payload. */
type Payloads = Readonly<Record<string, object>>;
export type JobSettingsOf<P extends Payloads> = { readonly [N in keyof P]: JobSettings };
export type JobHandlers<P extends Payloads> = {
  readonly [N in keyof P]: (run: SlotRun<P[N]>) => Promise<void>;
};

type SentJobOf<N, T> = {
  readonly name: N;
  readonly payload: T;
  readonly startAfter?: Date | undefined;
  /** Default: of the current span. */
  readonly traceparent?: string | undefined;
};

/** The producer's side of the queue. */
export type Jobs<P extends Payloads> = JobSubjects & {
  /** Enqueues in the caller's transaction; a rollback also removes the job. */
  send<N extends keyof P & string>(tx: Transaction, name: N, payload: P[N]): Promise<void>;
  /** Enqueues a job of an owner; required for fair queues. It waits until `startAfter`, if set. */
  sendFor<N extends keyof P & string>(tx: Transaction, owner: string, job: SentJobOf<N, P[N]>): Promise<void>;
  /** Lists running jobs, then waiting jobs in the order of their execution, up to a limit. */
  listOpen<N extends keyof P & string>(name: N): Promise<OpenJob<P[N]>[]>;
  /** True when a job whose payload contains these members waits or runs. */
  hasOpenJob<N extends keyof P & string>(name: N, payload: Partial<P[N]>): Promise<boolean>;
};

type WorkOptions<P extends Payloads> = {
  /** The providers that this process serves; default: none. */
  readonly providers?: readonly string[];
  /** Scheduled jobs that are sent only if there is something to do. */
  readonly isNeeded?: { readonly [N in keyof P]?: () => Promise<boolean> };
};

export type JobQueue<P extends Payloads> = Jobs<P> & {
  /** For operators. */
  readonly control: JobControl;
  /** Starts the workers. The types require one handler for every job. */
  work(handlers: JobHandlers<P>, options?: WorkOptions<P>): Promise<void>;
  /** Deletes finished jobs, and ends runs that take too long, which else happens from time to time. */
  maintain(): Promise<void>;
  /** Aborts running jobs, returns them to the queue and closes. */
  stop(): Promise<void>;
};

type JobQueueOptions<P extends Payloads> = {
  readonly connection: Connection;
  /** Default: a connection of its own. */
  readonly channels?: NotificationChannels | undefined;
  /** False: the role cannot change tables, and another one has created the schema. Default: true. */
  readonly isMigrating?: boolean | undefined;
  /** False: the process has no workers, and leaves the maintenance to those that have. Default: true. */
  readonly isSupervising?: boolean | undefined;
  /** How long finished jobs stay. */
  readonly retention?: JobRetention | undefined;
  readonly settings: JobSettingsOf<P>;
  /** The member of most payloads by which `hasOpenJob` finds a job through an index. */
  readonly searchedMember: string;
  readonly onError: (error: Error) => void;
  /** Attributes of the spans of runs. */
  readonly describePayload?: (payload: object) => SpanAttributes;
};

/** Of the heartbeat of running jobs, in seconds (`open-boss.ts`). */
const HEARTBEAT_REFRESH_S = 3;
/** NOTIFY and `watchDueJobs` wake the workers. Each poll costs a statement for every slot. */
const POLL_S = 600;
const RETENTION: JobRetention = { completedSeconds: 4 * 3600, failedSeconds: 7 * 86_400 };
export async function openJobs<P extends Payloads>({
  connection,
  channels,
  isMigrating = true,
  isSupervising = true,
  retention = RETENTION,
  settings,
  searchedMember,
  onError,
  describePayload = () => ({}),
}: JobQueueOptions<P>): Promise<JobQueue<P>> {
  const stopping = new AbortController();
  const options = { connection, channels, isMigrating, isSupervising, retention };
  const { boss, db } = await openBoss(options, settings, (error) => {
    // Errors of connections that close during the shutdown are expected.
    if (!stopping.signal.aborted) onError(error);
  });
  if (isMigrating) await createJobIndexes(db, searchedMember);
  const control = createJobControl({ boss, db, settings, searchedMember });
  return {
    control,
    listOpen: (name) => listOpenJobs(db, name),
    hasOpenJob: (name, payload) =>
      hasOpenJob(db, { queue: queueOf(name, settings[name], payload), payload, searchedMember }),
    ...subjectsOf(db, searchedMember),
    ...sendersOf(boss, settings),
    work: async (handlers, { providers = [], isNeeded = {} } = {}) => {
      for (const [name, job] of Object.entries(settings))
        for (const queue of queuesOf(name, job, providers))
          await startWorker(
            { boss, db, control, name: queue, job, stopping: stopping.signal, describePayload },
            handlers[name],
          );
      const watch = { boss, db, settings, control, stopping: stopping.signal, onError };
      void watchCompletedJobs(db, { retention, stopping: stopping.signal, onError });
      void watchDue(watch);
      void watchScheduled(watch, isNeeded);
    },
    maintain: async () => {
      await deleteCompletedJobs(db, retention);
      await boss.supervise();
    },
    stop: async () => {
      stopping.abort(new Error('the process is stopping'));
      await boss.stop({ graceful: true, timeout: 10_000 });
      await db.close();
    },
  };
}

function sendersOf<P extends Payloads>(
  boss: PgBoss,
  settings: JobSettingsOf<P>,
): Pick<JobQueue<P>, 'send' | 'sendFor'> {
  return {
    send: async (tx, name, payload) => {
      if (settings[name].fair)
        throw new Error(`a job of the fair queue "${name}" needs an owner: use sendFor`);
      await boss.send(queueOf(name, settings[name], payload), withTrace(payload), {
        ...providerOptions(settings[name], payload),
        db: tx as never,
      });
    },
    sendFor: async (tx, owner, { name, payload, ...options }) => {
      const queue = queueOf(name, settings[name], payload);
      await sendJob({ boss, name: queue, job: settings[name] }, { tx, owner, payload, ...options });
    },
  };
}

type Worker = JobSender &
  Required<Pick<JobQueueOptions<Payloads>, 'describePayload'>> & {
    readonly db: JobDatabase;
    readonly control: JobControl;
    readonly stopping: AbortSignal;
  };

async function startWorker<T>(
  worker: Worker,
  handler: ((run: SlotRun<T>) => Promise<void>) | undefined,
): Promise<void> {
  const { boss, name, job, stopping } = worker;
  if (!handler) throw new Error(`job "${name}" has no handler`);
  const options = {
    localConcurrency: job.concurrency,
    ...(job.fair && { localGroupConcurrency: maxHeldSlots(job.concurrency) }),
    heartbeatRefreshSeconds: HEARTBEAT_REFRESH_S,
    pollingIntervalSeconds: POLL_S,
    notifyPollingIntervalSeconds: POLL_S,
  };
  const run = async (running: Job<T & object>): Promise<void> => {
    const { traceparent, ...payload } = running.data as T & TracedPayload;
    const slot = slotOf(worker, { ...running, data: payload }, traceparent);
    const signal = AbortSignal.any([running.signal, stopping]);
    try {
      await continueTrace(toSpan(worker, payload), traceparent, () =>
        handler({ payload: payload as T, signal, slot }),
      );
    } finally {
      notifyWorkers(boss, name, 1);
    }
  };
  await boss.work<T & object>(name, options, async (batch: Job<T & object>[]) => {
    for (const job of batch) await worker.control.track(job, () => run(job));
  });
}

const toSpan = ({ name, describePayload }: Worker, payload: object): SpanStart => ({
  name,
  kind: 'consumer',
  attributes: {
    'messaging.system': 'pg-boss',
    'messaging.operation.type': 'process',
    'messaging.destination.name': name,
    ...describePayload(payload),
  },
});

function slotOf(
  { db, ...sender }: Worker,
  { id, data: payload, groupId }: Job<object>,
  traceparent: string | undefined,
): JobSlot {
  const { boss, name: queue } = sender;
  const owner = groupId ?? undefined;
  return createJobSlot(db, {
    queue,
    owner,
    sendAgain: (tx) => sendJob(sender, { tx, owner: owner ?? '', payload, traceparent }),
    complete: (tx) => boss.complete(queue, id, undefined, { db: tx as never }),
  });
}
