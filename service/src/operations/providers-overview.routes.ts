// For operators: the providers, at a glance.
import { type Static, Type } from 'typebox';
import { nullable } from '../assets/asset-view.ts';
import type { guarded } from '../platform/http/route.ts';
import type { ProviderOverview } from './providers-overview.ts';

type AsOperator = ReturnType<typeof guarded<undefined, object>>;

const Overview = Type.Object({
  name: Type.String(),
  kind: Type.Enum(['hosted', 'encoder']),
  configured: Type.Boolean({ description: 'Videos can be sent to it, and its webhooks be verified' }),
  capabilities: Type.Object({
    webhooks: Type.Boolean(),
    uploads: Type.Boolean(),
    inspection: Type.Boolean(),
    signed_playback: Type.Boolean(),
    dash: Type.Boolean(),
  }),
  missing_settings: Type.Array(Type.String()),
  circuit: Type.Object(
    {
      open: Type.Boolean(),
      failures: Type.Integer(),
      open_until: nullable(Type.String({ format: 'date-time' })),
    },
    { description: 'Of the process that answers' },
  ),
  last_answer_at: nullable(Type.String({ format: 'date-time' })),
  last_failure: nullable(Type.String()),
  last_webhook_at: nullable(Type.String({ format: 'date-time' })),
  last_webhook_reason: nullable(Type.String()),
});

export const providersOverviewRoutes = (
  overview: { listProviderOverviews(): Promise<ProviderOverview[]> },
  asOperator: AsOperator,
) => [
  asOperator({
    method: 'GET',
    url: '/admin/providers',
    message: 'Providers',
    summary: 'What each provider is capable of, whether it is configured, and how it fares',
    answer: Type.Object({ items: Type.Array(Overview) }),
    handle: async () => ({ items: (await overview.listProviderOverviews()) as Static<typeof Overview>[] }),
  }),
];
