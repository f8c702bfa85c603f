// Operations: health checks, metrics, the overview of providers, and diagnostics.
import { readSessionCookie } from '../auth/sessions/session-cookie.ts';
import { findDirectOrigin } from '../storage/direct-origin.ts';
import type { OperationsContext } from './context.ts';
import { diagnosticsRoutes } from './diagnostics/diagnostics.routes.ts';
import { jobRoutes } from './jobs/jobs.routes.ts';
import { metricsRoute, openMetricsRoute } from './metrics/metrics.routes.ts';
import { openReadings, registerGauges } from './metrics/state-gauges.ts';
import { startSampler } from './samples/sampler.ts';
import { deleteOldSamples } from './samples/samples.ts';
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
    jobs: {
      'delete-old-samples': async (): Promise<void> => {
        await deleteOldSamples(ctx);
      },
    },
  };
}

/** Whether a request has the cookie of a session, open or ended. */
const hasSessionCookie = ({ cookie }: { readonly cookie?: string | undefined }): boolean =>
  readSessionCookie(cookie) !== undefined;

/** Where files come from and go to, beside this service. Hosted providers name their hosts later. */
async function findConsoleOrigins(ctx: OperationsContext): Promise<readonly string[]> {
  const { cdnBaseUrl } = ctx.settings.delivery;
  const origins = [cdnBaseUrl && new URL(cdnBaseUrl).origin, await findDirectOrigin(ctx.store)];
  const isHosted = [...ctx.providers.registry.values()].some(({ api }) => api !== undefined);
  return [...new Set(origins.filter((origin) => origin !== undefined)), ...(isHosted ? ['https:'] : [])];
}
