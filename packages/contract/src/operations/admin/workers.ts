// The processes of an installation, for operators.
import { jsonOperation } from '../../operation.ts';
import { DrainedWorker, EXAMPLE_WORKER, ListWorkersQuery, WorkerPage } from '../../schemas/admin/workers.ts';

export const listWorkers = jsonOperation({
  id: 'listWorkers',
  method: 'GET',
  path: '/api/v1/admin/workers',
  tag: 'Operators',
  auth: 'operator',
  summary: 'List processes',
  description:
    'Lists the processes of the service, also those without jobs, newest first, with what each reported ' +
    'about itself. Processes that ended stay for 24 h.',
  query: ListWorkersQuery,
  message: 'Processes',
  data: WorkerPage,
  example: { items: [EXAMPLE_WORKER], next_cursor: null },
});

export const drainWorker = jsonOperation({
  id: 'drainWorker',
  method: 'POST',
  path: '/api/v1/admin/workers/{id}/drain',
  tag: 'Operators',
  auth: 'operator',
  summary: 'Drain a worker',
  description:
    'Within 10 s the process takes no further job, until it is restarted; it ends those that it runs. ' +
    'Stop it when `running_jobs` is empty. The run of a long video waits for chunks that other workers ' +
    'encode: without another one, stop the process at once. A repeated call changes nothing.',
  message: 'Worker drains',
  data: DrainedWorker,
  example: { id: EXAMPLE_WORKER.id, draining: true },
  errors: [{ code: 'NOT_FOUND', when: 'No live process that runs jobs has this id.' }],
});
