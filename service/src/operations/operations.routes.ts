// Health checks for load balancers, and the overview of providers for operators.
import { listProviders } from '@mediary/contract/operations/admin/operators';
import { countAssets } from '@mediary/contract/operations/admin/owner-totals';
import { getHealth, getReadiness } from '@mediary/contract/operations/service';
import { open } from '../platform/http/route.ts';
import type { LiveWorker, OperationsContext } from './context.ts';
import { createReadinessChecks } from './health.ts';
import type { StateReadings } from './metrics/state-gauges.ts';
import { isOperator } from '../auth/operator.hook.ts';
import { listProviderOverviews } from './providers-overview.ts';

export function healthRoutes(ctx: OperationsContext) {
  const checkReadiness = createReadinessChecks(ctx);
  const { settings, machine } = ctx;
  return [
    open(getHealth, async () => ({ status: 'ok' as const })),
    open(getReadiness, async ({ headers, query }) => {
      const { components, workers, warnings } = await checkReadiness(query.for ?? 'serving');
      return {
        ...components,
        worker_count: workers.length,
        ...(warnings.length > 0 && { warnings: [...warnings] }),
        ...(isOperator(headers, settings.operatorKeys) && {
          workers: workers.map(toWorkerView),
          sandbox: machine.protections,
        }),
      };
    }),
  ];
}

const toWorkerView = ({ started_at, seen_at, ...worker }: LiveWorker) => ({
  ...worker,
  started_at: started_at.toISOString(),
  seen_at: seen_at.toISOString(),
});

export const overviewRoutes = (ctx: OperationsContext, readings: StateReadings) => [
  ctx.asOperator(countAssets, async () => {
    const { rows, at } = await readings.countAssets();
    const total = rows.reduce((sum, { count }) => sum + count, 0);
    const items = rows.map(({ count, ...state }) => ({ ...state, asset_count: count }));
    return { items, total, counted_at: at.toISOString() };
  }),
  ctx.asOperator(listProviders, async () => ({
    items: await listProviderOverviews(ctx),
    next_cursor: null,
  })),
];
