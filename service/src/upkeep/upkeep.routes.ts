// Reports of orphaned objects, and of what a CDN was told to purge, for operators.
import { findOrphans, listCdnPurges } from '@mediary/contract/operations/operators';
import { listPurges } from './cdn-purges.ts';
import type { UpkeepContext } from './context.ts';
import { sweepOrphans } from './orphans.ts';

export const upkeepRoutes = (ctx: UpkeepContext) => [
  ctx.asOperator(findOrphans, ({ body }) => sweepOrphans(ctx, body)),
  ctx.asOperator(listCdnPurges, ({ query }) => listPurges(ctx, query)),
];
