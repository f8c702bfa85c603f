// The queues and jobs of all processes, as operators see them (contract B9).
import type { Job, Queue } from '@mediary/contract/schemas/admin/jobs';
import { createPositionCursor, readPositionCursor } from '../../auth/list-cursor.ts';
import { shareReading } from '../../platform/concurrency/shared-reading.ts';
import { badRequest, notFound } from '../../platform/http/errors.ts';
import {
  type JobPosition,
  type JobRecord,
  LISTED_STATES,
  type ListedState,
} from '../../platform/jobs/job-list.ts';
import { sanitize } from '../../platform/observability/logged-errors.ts';
import { isUuid } from '../../platform/values/uuid.ts';
import type { OperationsContext } from '../context.ts';
import { listQueueStates } from '../metrics/metrics.sql.ts';
import { describeJobError } from './job-error.ts';
import { countJobsDone, findJobWorkers } from './jobs.sql.ts';

/** However many consoles ask, a process takes this share of the database's time. */
const READING = { minAgeMs: 5000, maxShare: 0.01 };

/** Returns what reads all queues. Those of other releases are left out. */
export function createQueueReading(ctx: OperationsContext): () => Promise<Queue[]> {
  const known = new Map(ctx.jobs.control.queues.map((queue) => [queue.queue, queue]));
  const read = shareReading({ read: () => listQueueStates(ctx.db), ...READING });
  const readDone = shareReading({ read: () => countJobsDone(ctx.db), ...READING, minAgeMs: 30_000 });
  return async () => {
    const [states, counts] = await Promise.all([read(), readDone()]);
    const done = new Map(counts.map(({ name, count }) => [name, count]));
    return states.flatMap(({ name, ready, deferred, active, failed, seconds, counted_at }) => {
      const queue = known.get(name);
      if (!queue) return [];
      return [
        {
          ...queue,
          waiting: ready,
          delayed: deferred,
          active,
          failed,
          recently_done: done.get(name) ?? 0,
          oldest_waiting_s: seconds,
          counted_at: counted_at.toISOString(),
        },
      ];
    });
  };
}

type ListQuery = {
  readonly queue?: string;
  readonly state?: ListedState;
  readonly asset_id?: string;
  readonly limit: number;
  readonly cursor?: string;
};

export async function listJobs(
  ctx: OperationsContext,
  query: ListQuery,
): Promise<{ items: Job[]; next_cursor: string | null }> {
  const { queue, state, asset_id: assetId, limit, cursor } = query;
  const { urlSecrets, jobs } = ctx;
  const scope = { list: 'jobs', queue, state, assetId };
  const queues = findQueues(ctx, queue);
  const { jobs: page, next } = await jobs.control.list({
    queues,
    states: state === undefined ? LISTED_STATES : [state],
    searchedValue: assetId,
    after:
      cursor === undefined ? undefined : toPosition(readPositionCursor(urlSecrets, scope, cursor), queues),
    limit,
  });
  const items = await toJobs(ctx, page);
  const position = next && [next.state, next.queue, next.priority, next.createdOn, next.id];
  return { items, next_cursor: position ? createPositionCursor(urlSecrets, scope, position) : null };
}

/** The queues of a job name, or the one with this name; all without one. */
function findQueues({ jobs: { control } }: OperationsContext, wanted: string | undefined): string[] {
  const found = control.queues.filter(
    ({ queue, name }) => wanted === undefined || queue === wanted || name === wanted,
  );
  if (found.length > 0) return found.map(({ queue }) => queue);
  throw badRequest(`There is no queue "${wanted}". GET /api/v1/admin/queues lists them.`, {
    field: 'queue',
    reason: 'unsupported_value',
    allowed: [...new Set(control.queues.map(({ queue }) => queue))],
  });
}

/** A release with other queues may have issued the cursor. */
function toPosition(
  [state, queue, priority, createdOn, id]: ReturnType<typeof readPositionCursor>,
  queues: readonly string[],
): JobPosition {
  if (!queues.includes(String(queue)))
    throw badRequest('Invalid cursor: its queue does not exist any more. Read the list from the start.', {
      field: 'cursor',
      reason: 'invalid_cursor',
    });
  return {
    state: state as ListedState,
    queue: String(queue),
    priority: Number(priority),
    createdOn: String(createdOn),
    id: String(id),
  };
}

/** Throws NOT_FOUND. */
export async function getJobRecord({ jobs }: OperationsContext, id: string): Promise<JobRecord> {
  const job = isUuid(id) ? await jobs.control.find(id) : undefined;
  if (!job) throw notFound('No such job, or it ended too long ago');
  return job;
}

export async function getJob(ctx: OperationsContext, id: string): Promise<Job> {
  const [job] = await toJobs(ctx, [await getJobRecord(ctx, id)]);
  return job as Job;
}

/** Where the name of the job differs from that of its queue. */
export const findQueueName = ({ jobs }: OperationsContext, queue: string) =>
  jobs.control.queues.find((known) => known.queue === queue) ?? { queue, name: queue, provider: null };

async function toJobs(ctx: OperationsContext, records: readonly JobRecord[]): Promise<Job[]> {
  const active = records.filter(({ state }) => state === 'active').map(({ id }) => id);
  const workers = active.length === 0 ? [] : await findJobWorkers(ctx.db, active);
  const byJob = new Map(workers.map(({ job_id, id, host }) => [job_id, { id, host }]));
  return records.map((record) => ({
    ...toView(record),
    ...findQueueName(ctx, record.queue),
    worker: byJob.get(record.id) ?? null,
  }));
}

function toView({ id, payload, state, createdAt, startedAt, startAfter, completedAt, ...job }: JobRecord) {
  const { assetId } = payload;
  const waits = state === 'waiting' || state === 'delayed';
  return {
    id,
    asset_id: typeof assetId === 'string' ? assetId : null,
    state,
    created_at: createdAt.toISOString(),
    started_at: startedAt?.toISOString() ?? null,
    ended_at: completedAt?.toISOString() ?? null,
    next_run_at: waits ? startAfter.toISOString() : null,
    runs: job.runs,
    max_runs: job.maxRuns,
    last_error: state === 'completed' ? null : toLastError(job.output),
  };
}

const MAX_CODE = 100;
const MAX_MESSAGE = 500;

/** As in the log: bounded, without credentials. */
function toLastError(output: unknown): Job['last_error'] {
  const error = describeJobError(output);
  return error && { code: sanitize(error.code, MAX_CODE), message: sanitize(error.message, MAX_MESSAGE) };
}
