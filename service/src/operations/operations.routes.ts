// Health checks for load balancers, and the overview of providers for operators.
import { listProviders } from '@mediary/contract/operations/operators';
import { getHealth, getReadiness } from '@mediary/contract/operations/service';
import type { Bound } from '../platform/bind.ts';
import { type AsOperator, type Input, open } from '../platform/http/route.ts';
import type { createReadinessChecks, Workers } from './health.ts';
import type { listProviderOverviews } from './providers-overview.ts';

type Health = {
  readonly checkReadiness: ReturnType<typeof createReadinessChecks>;
  /** Protection of the sandbox → whether it is active on this machine. */
  readonly sandbox: Readonly<Record<string, boolean>>;
  readonly isOperator: (headers: Input['headers']) => boolean;
};

export const healthRoutes = (health: Health) => [
  open(getHealth, async () => ({ status: 'ok' as const })),
  open(getReadiness, async ({ headers, query }) => {
    const { components, workers, warnings } = await health.checkReadiness(query.for ?? 'serving');
    return {
      ...components,
      worker_count: workers.length,
      ...(warnings.length > 0 && { warnings: [...warnings] }),
      ...(health.isOperator(headers) && { workers: workers.map(toWorkerView), sandbox: health.sandbox }),
    };
  }),
];

const toWorkerView = ({ started_at, seen_at, ...worker }: Workers[number]) => ({
  ...worker,
  started_at: started_at.toISOString(),
  seen_at: seen_at.toISOString(),
});

type Overview = { readonly listProviderOverviews: Bound<typeof listProviderOverviews> };

export const providersOverviewRoutes = (overview: Overview, asOperator: AsOperator) => [
  asOperator(listProviders, async () => ({
    items: await overview.listProviderOverviews(),
    next_cursor: null,
  })),
];
