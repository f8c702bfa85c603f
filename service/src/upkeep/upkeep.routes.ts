// What a CDN was told to purge, and checks of the storage, for operators.
import { listCdnPurges } from '@mediary/contract/operations/admin/operators';
import * as routes from '@mediary/contract/operations/admin/storage-checks';
import { listPurges } from './cdn-purges.ts';
import * as checks from './checks/checks.ts';
import type { UpkeepContext } from './context.ts';

export const upkeepRoutes = (ctx: UpkeepContext) => [
  ctx.asOperator(listCdnPurges, ({ query }) => listPurges(ctx, query)),
  ctx.asOperator(routes.startCheck, ({ body }) => checks.startCheck(ctx, body)),
  ctx.asOperator(routes.listChecks, () => checks.listChecks(ctx)),
  ctx.asOperator(routes.getCheck, ({ params }) => checks.getCheck(ctx, params.id)),
  ctx.asOperator(routes.listFindings, ({ params, query }) => checks.listFindings(ctx, params.id, query)),
  ctx.asOperator(routes.cancelCheck, ({ params }) => checks.cancelCheck(ctx, params.id)),
];
