// Operations: health checks, metrics, the overview of providers, and diagnostics.
import type { OperationsContext } from './context.ts';
import { diagnosticsRoutes } from './diagnostics/diagnostics.routes.ts';
import { jobRoutes } from './jobs/jobs.routes.ts';
import { metricsRoute, openMetricsRoute } from './metrics/metrics.routes.ts';
import { registerGauges } from './metrics/state-gauges.ts';
import { workerRoutes } from './workers/workers.routes.ts';
import { healthRoutes, providersOverviewRoutes } from './operations.routes.ts';

export function createOperations(ctx: OperationsContext) {
  registerGauges(ctx);
  const health = healthRoutes(ctx);
  return {
    operations: { healthPortRoutes: [...health, openMetricsRoute(ctx)] },
    routes: [
      ...providersOverviewRoutes(ctx),
      ...jobRoutes(ctx),
      ...workerRoutes(ctx),
      ...diagnosticsRoutes(ctx),
      ...health,
      metricsRoute(ctx),
    ],
    jobs: {},
  };
}
