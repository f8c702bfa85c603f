// Operations: health checks, metrics, the overview of providers, and diagnostics.
import { findConsoleOrigins, hasSessionCookie } from './console-origins.ts';
import type { OperationsContext } from './context.ts';
import { diagnosticsRoutes } from './diagnostics/diagnostics.routes.ts';
import { metricsRoute, openMetricsRoute } from './metrics/metrics.routes.ts';
import { registerGauges } from './metrics/state-gauges.ts';
import { healthRoutes, providersOverviewRoutes } from './operations.routes.ts';

export function createOperations(ctx: OperationsContext) {
  registerGauges(ctx);
  const health = healthRoutes(ctx);
  return {
    operations: {
      healthPortRoutes: [...health, openMetricsRoute(ctx)],
      console: { hasSessionCookie, findOrigins: () => findConsoleOrigins(ctx) },
    },
    routes: [...providersOverviewRoutes(ctx), ...diagnosticsRoutes(ctx), ...health, metricsRoute(ctx)],
    jobs: {},
  };
}
