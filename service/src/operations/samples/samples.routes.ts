// The series of samples, for operators.
import { listSamples as list } from '@mediary/contract/operations/admin/samples';
import type { OperationsContext } from '../context.ts';
import { listSamples } from './samples.ts';

export const sampleRoutes = (ctx: OperationsContext) => [
  ctx.asOperator(list, ({ query }) => listSamples(ctx, query)),
];
