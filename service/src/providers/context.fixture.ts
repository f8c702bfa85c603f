// The context of providers in tests.
import { NOW } from '../lifecycle/asset.fixture.ts';
import { createMetrics } from '../platform/observability/metrics.ts';
import { contextOf } from '../platform/values/context.fixture.ts';
import type { ProvidersContext } from './context.ts';
import type { HostedApi, Provider } from './provider.ts';

export const createProvidersContext = (
  given: Parameters<typeof contextOf<ProvidersContext>>[0],
): ProvidersContext =>
  contextOf<ProvidersContext>({
    circuits: new Map(),
    service: { publicBaseUrl: () => 'http://127.0.0.1', metrics: createMetrics() },
    clocks: { now: () => NOW, databaseNow: async () => NOW },
    ...given,
  });

/** A hosted provider with the given part of an API. */
export const createHostedProvider = (name: string, api: Partial<HostedApi>): Provider =>
  contextOf<Provider>({ name, kind: 'hosted', api: contextOf<HostedApi>(api) });
