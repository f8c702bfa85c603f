// Health checks for load balancers, and the overview of providers for operators.
import { listProviders } from '@mediary/contract/operations/operators';
import { getHealth, getReadiness } from '@mediary/contract/operations/service';
import type { Bound } from '../platform/bind.ts';
import { type AsOperator, type Input, open } from '../platform/http/route.ts';
import type { checkReadiness } from './health.ts';
import type { listProviderOverviews } from './providers-overview.ts';

type Health = {
  readonly checkReadiness: Bound<typeof checkReadiness>;
  /** Protection of the sandbox → whether it is active on this machine. */
  readonly sandbox: Readonly<Record<string, boolean>>;
  readonly isOperator: (headers: Input['headers']) => boolean;
};

export const healthRoutes = (health: Health) => [
  open(getHealth, async () => ({ status: 'ok' as const })),
  open(getReadiness, async ({ headers }) => ({
    ...(await health.checkReadiness()),
    ...(health.isOperator(headers) && { sandbox: health.sandbox }),
  })),
];

type Overview = { readonly listProviderOverviews: Bound<typeof listProviderOverviews> };

export const providersOverviewRoutes = (overview: Overview, asOperator: AsOperator) => [
  asOperator(listProviders, async () => ({ items: await overview.listProviderOverviews() })),
];
