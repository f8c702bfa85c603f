// The metrics of this process for Prometheus (contract B11).
import { getMetrics } from '@mediary/contract/operations/admin/operators';
import type { FastifyReply } from 'fastify';
import { bytesRoute, type Route } from '../../platform/http/route.ts';
import { METRICS_TYPE } from '../../platform/observability/metrics.ts';
import type { OperationsContext } from '../context.ts';
import { assertMayScrape } from '../../auth/operator.hook.ts';

const render =
  ({ service: { metrics } }: OperationsContext) =>
  async (_request: unknown, reply: FastifyReply) => {
    const text = await metrics.render();
    return reply.type(METRICS_TYPE).header('cache-control', 'no-store').send(text);
  };

/** On the main listener. */
export const metricsRoute = (ctx: OperationsContext): Route =>
  bytesRoute(getMetrics, {
    identify: ({ raw }) => assertMayScrape(raw, ctx.settings.operatorKeys),
    handle: render(ctx),
  });

/** On HEALTH_PORT, which only the own network reaches. */
export const openMetricsRoute = (ctx: OperationsContext): Route =>
  bytesRoute(getMetrics, { handle: render(ctx) });
