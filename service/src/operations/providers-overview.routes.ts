// For operators: lists the providers with their capabilities and health.
import { listProviders } from '@mediary/contract/operations/operators';
import type { ProviderOverview } from '@mediary/contract/schemas/operators';
import type { guarded } from '../platform/http/route.ts';

type AsOperator = ReturnType<typeof guarded<undefined, object>>;
type Overview = { listProviderOverviews(): Promise<ProviderOverview[]> };

export const providersOverviewRoutes = (overview: Overview, asOperator: AsOperator) => [
  asOperator(listProviders, async () => ({ items: await overview.listProviderOverviews() })),
];
