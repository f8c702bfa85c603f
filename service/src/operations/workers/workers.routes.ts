// The processes of the installation, for operators.
import { drainWorker as drain, listWorkers as list } from '@mediary/contract/operations/admin/workers';
import type { OperationsContext } from '../context.ts';
import { drainWorker, listWorkers } from './workers.ts';

export const workerRoutes = (ctx: OperationsContext) => [
  ctx.asOperator(list, ({ query }) => listWorkers(ctx, query)),
  ctx.asOperator(drain, ({ params }) => drainWorker(ctx, params.id)),
];
