// Operations: health checks, the overview of providers, and diagnostics.
import type { OperationsContext } from './context.ts';
import { diagnosticsRoutes } from './diagnostics/diagnostics.routes.ts';
import { healthRoutes, providersOverviewRoutes } from './operations.routes.ts';

export function createOperations(ctx: OperationsContext) {
  const health = healthRoutes(ctx);
  return {
    operations: { healthRoutes: health },
    routes: [...providersOverviewRoutes(ctx), ...diagnosticsRoutes(ctx), ...health],
    jobs: {},
  };
}
