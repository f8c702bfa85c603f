// Queues and jobs, for operators.
import { jsonOperation } from '../../operation.ts';
import {
  EXAMPLE_JOB,
  EXAMPLE_QUEUE,
  Job,
  JobPage,
  ListJobsQuery,
  QueueList,
} from '../../schemas/admin/jobs.ts';

export const listQueues = jsonOperation({
  id: 'listQueues',
  method: 'GET',
  path: '/api/v1/admin/queues',
  tag: 'Operators',
  auth: 'operator',
  summary: 'List queues',
  description:
    'Lists all queues with their counts. Readings are shared for at least 5 s, and take 1 % of the time of ' +
    'the database at most. The oldest job is searched among the next 10 000 of a queue.',
  message: 'Queues',
  data: QueueList,
  example: { items: [EXAMPLE_QUEUE], next_cursor: null },
});

export const listJobs = jsonOperation({
  id: 'listJobs',
  method: 'GET',
  path: '/api/v1/admin/jobs',
  tag: 'Operators',
  auth: 'operator',
  summary: 'List jobs',
  description:
    'Lists the jobs that have not succeeded. Running jobs come first, by their age. Waiting and delayed ' +
    'jobs follow, in the order of execution of each queue; then failed ones, newest first. A job that ' +
    'changes its state between two pages may be missing or appear twice.',
  query: ListJobsQuery,
  message: 'Jobs',
  data: JobPage,
  example: { items: [EXAMPLE_JOB], next_cursor: null },
});

const NO_JOB = { code: 'NOT_FOUND', when: 'No such job, or it ended too long ago.' } as const;

export const getJob = jsonOperation({
  id: 'getJob',
  method: 'GET',
  path: '/api/v1/admin/jobs/{id}',
  tag: 'Operators',
  auth: 'operator',
  summary: 'Get a job',
  description: 'Returns a job, also one that has ended, while it is kept.',
  message: 'Job',
  data: Job,
  example: EXAMPLE_JOB,
  errors: [NO_JOB],
});

export const runJobAgain = jsonOperation({
  id: 'runJobAgain',
  method: 'POST',
  path: '/api/v1/admin/jobs/{id}/run-again',
  tag: 'Operators',
  auth: 'operator',
  summary: 'Run a job again',
  description:
    'A delayed job can start now; a failed one gets one more run. Changes nothing if the job waits or runs ' +
    'already. The job of an attempt that has ended does nothing: retry the asset instead.',
  message: 'Job waits',
  data: Job,
  example: { ...EXAMPLE_JOB, state: 'waiting', next_run_at: null },
  errors: [
    NO_JOB,
    { code: 'CONFLICT', reason: 'job_ended', when: 'The job has succeeded or was cancelled.' },
  ],
});

export const cancelJob = jsonOperation({
  id: 'cancelJob',
  method: 'POST',
  path: '/api/v1/admin/jobs/{id}/cancel',
  tag: 'Operators',
  auth: 'operator',
  summary: 'Cancel a job',
  description:
    'The asset of an encode, an import, a clip or an uploaded image fails with the code `cancelled`, and ' +
    'its owner can retry it. A running job stops within seconds. Posters, extras and smaller variants ' +
    'are left out. A scheduled job runs again by its schedule. Jobs that remove, protect or report ' +
    'something cannot be cancelled, because it would never be done. A repeated call changes nothing.',
  message: 'Job cancelled',
  data: Job,
  example: { ...EXAMPLE_JOB, queue: 'encode-asset', name: 'encode-asset', state: 'cancelled' },
  errors: [
    NO_JOB,
    { code: 'CONFLICT', reason: 'job_ended', when: 'The job has succeeded or failed.' },
    {
      code: 'CONFLICT',
      reason: 'job_required',
      when: 'Something would be left undone; `message` says what.',
    },
    { code: 'CONFLICT', reason: 'job_active', when: 'A scheduled job runs: it ends soon by itself.' },
  ],
});
