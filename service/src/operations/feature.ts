// Operations: health checks, metrics, the overview of providers, and diagnostics.
import { findConsoleOrigins, hasSessionCookie } from './console-origins.ts';
import type { OperationsContext } from './context.ts';
import { diagnosticsRoutes } from './diagnostics/diagnostics.routes.ts';
import { jobRoutes } from './jobs/jobs.routes.ts';
import { metricsRoute, openMetricsRoute } from './metrics/metrics.routes.ts';
import { openReadings, registerGauges } from './metrics/state-gauges.ts';
import { startSampler } from './samples/sampler.ts';
import { sampleRoutes } from './samples/samples.routes.ts';
import { workerRoutes } from './workers/workers.routes.ts';
import { healthRoutes, overviewRoutes } from './operations.routes.ts';

export function createOperations(ctx: OperationsContext) {
  const readings = openReadings(ctx);
  registerGauges(ctx, readings);
  const health = healthRoutes(ctx);
  return {
    operations: {
      healthPortRoutes: [...health, openMetricsRoute(ctx)],
      console: { hasSessionCookie, findOrigins: () => findConsoleOrigins(ctx) },
      startSampler: () => startSampler(ctx),
    },
    routes: [
      ...overviewRoutes(ctx, readings),
      ...jobRoutes(ctx),
      ...workerRoutes(ctx),
      ...sampleRoutes(ctx),
      ...diagnosticsRoutes(ctx),
      ...health,
      metricsRoute(ctx),
    ],
    jobs: {},
  };
}
