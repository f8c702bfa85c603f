// Queues and jobs, for operators.
import {
  cancelJob as cancel,
  getJob as get,
  listJobs as list,
  listQueues,
  runJobAgain as runAgain,
} from '@mediary/contract/operations/admin/jobs';
import type { OperationsContext } from '../context.ts';
import { cancelJob, runJobAgain } from './change-job.ts';
import { createQueueReading, getJob, listJobs } from './jobs.ts';

export function jobRoutes(ctx: OperationsContext) {
  const readQueues = createQueueReading(ctx);
  return [
    ctx.asOperator(listQueues, async () => ({ items: await readQueues(), next_cursor: null })),
    ctx.asOperator(list, ({ query }) => listJobs(ctx, query)),
    ctx.asOperator(get, ({ params }) => getJob(ctx, params.id)),
    ctx.asOperator(runAgain, ({ params }) => runJobAgain(ctx, params.id)),
    ctx.asOperator(cancel, ({ params }) => cancelJob(ctx, params.id)),
  ];
}
