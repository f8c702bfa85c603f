// Queues and jobs, for operators.
import { type Static, Type } from 'typebox';
import { AssetId, Cursor, NextCursor, NoNextCursor, nullable, Timestamp } from '../common.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });

const queueMembers = {
  queue: Type.String({ description: 'The name of the job, with its provider if each has a queue.' }),
  name: Type.String({ description: 'The name of the job.' }),
  provider: nullable(Type.String({ description: 'The provider, where each has a queue of its own.' })),
};

export const Queue = Type.Object(
  {
    ...queueMembers,
    waiting: count('Jobs that can start now.'),
    delayed: count('Jobs that wait for a time, or for their next run after a failed one.'),
    active: count('Jobs that run.'),
    failed: count('Jobs that failed for good, and are kept for `FAILED_JOB_RETENTION_H`.'),
    recently_done: count('Jobs that succeeded in the last hour, of the latest 200 000 of all queues.'),
    oldest_waiting_s: nullable(
      Type.Integer({
        description: 'Seconds for which the oldest waiting job could have started. Null if none waits.',
      }),
    ),
    counted_at: Timestamp,
  },
  { $id: 'Queue' },
);
export type Queue = Static<typeof Queue>;

export const QueueList = Type.Object(
  { items: Type.Array(Queue), next_cursor: NoNextCursor },
  { $id: 'QueueList' },
);

export const EXAMPLE_QUEUE: Queue = {
  queue: 'process-image',
  name: 'process-image',
  provider: null,
  waiting: 3,
  delayed: 0,
  active: 2,
  failed: 0,
  recently_done: 118,
  oldest_waiting_s: 4,
  counted_at: '2026-11-22T10:15:38.000Z',
};

const LISTED_JOB_STATES = ['active', 'waiting', 'delayed', 'failed'] as const;

export const Job = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    ...queueMembers,
    asset_id: nullable(AssetId),
    state: Type.Enum([...LISTED_JOB_STATES, 'completed', 'cancelled'], {
      description:
        '`waiting`: can start now. `delayed`: waits for `next_run_at`. `active`: runs. `failed`: has no ' +
        'run left. Jobs that have succeeded are kept for `JOB_RETENTION_H`, others for ' +
        '`FAILED_JOB_RETENTION_H`.',
    }),
    created_at: Timestamp,
    started_at: nullable(Timestamp),
    ended_at: nullable(Timestamp),
    next_run_at: nullable(Timestamp),
    runs: Type.Integer({ description: 'Runs so far, with the current one.' }),
    max_runs: Type.Integer({
      description: 'Runs that the queue allows. An operator who runs the job again adds runs beyond them.',
    }),
    worker: nullable(
      Type.Object(
        { id: Type.String(), host: Type.String() },
        {
          description:
            'The process that runs it, by its latest sign of life: null in the first two seconds of a run.',
        },
      ),
    ),
    last_error: nullable(
      Type.Object(
        { code: Type.String(), message: Type.String() },
        {
          description:
            'Why the latest run failed. `code`: the code of the error; `worker_lost`, `timed_out`, or ' +
            '`error` where it has none.',
        },
      ),
    ),
  },
  { $id: 'Job' },
);
export type Job = Static<typeof Job>;

export const JobPage = Type.Object({ items: Type.Array(Job), next_cursor: NextCursor }, { $id: 'JobPage' });

export const ListJobsQuery = Type.Object({
  queue: Type.Optional(
    Type.String({ description: '`queue` or `name` of an entry of `GET /api/v1/admin/queues`.' }),
  ),
  state: Type.Optional(Type.Enum([...LISTED_JOB_STATES])),
  asset_id: Type.Optional(Type.String({ description: 'Only jobs of this asset.' })),
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
  cursor: Type.Optional(Cursor),
});

export const EXAMPLE_JOB: Job = {
  id: '6f4f0c0e-5a0b-4c8e-9b1d-3c2a1f0e9d8c',
  queue: 'deliver-report',
  name: 'deliver-report',
  provider: null,
  asset_id: '019aab7c-4d2e-7c55-9f0e-6d1f2b3c4d5e',
  state: 'delayed',
  created_at: '2026-11-22T10:15:40.000Z',
  started_at: '2026-11-22T10:15:44.000Z',
  ended_at: null,
  next_run_at: '2026-11-22T10:15:52.000Z',
  runs: 3,
  max_runs: 201,
  worker: null,
  last_error: { code: 'ECONNREFUSED', message: 'connect ECONNREFUSED 10.0.0.4:8080' },
};
