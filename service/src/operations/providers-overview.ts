// Lists each provider with its capabilities, missing settings and recent contact.
import type { ProviderOverview } from '@mediary/contract/schemas/operators';
import { type Circuit, CLOSED_CIRCUIT, isOpen } from '../providers/circuit.ts';
import type { Provider } from '../providers/provider.ts';
import type { OperationsContext } from './context.ts';
import { findLastWebhooks } from './operations.sql.ts';

export async function listProviderOverviews(ctx: OperationsContext): Promise<ProviderOverview[]> {
  const { registry, circuits } = ctx.providers;
  const webhooks = await findLastWebhooks(ctx.db, [...registry.keys()]);
  const byProvider = new Map(webhooks.map((row) => [row.provider, row]));
  return [...registry.values()].map((provider) => {
    const last = byProvider.get(provider.name);
    return {
      ...toSettingsView(provider),
      ...toCircuitView(circuits.get(provider.name) ?? CLOSED_CIRCUIT, ctx.now()),
      last_webhook_at: last?.received_at?.toISOString() ?? null,
      last_webhook_reason: last?.reason ?? null,
    };
  });
}

function toSettingsView({ name, kind, capabilities }: Provider) {
  const { missingSettings, signedPlayback, ...others } = capabilities;
  return {
    name,
    kind,
    configured: capabilities.webhooks && capabilities.uploads,
    capabilities: { ...others, signed_playback: signedPlayback },
    missing_settings: [...missingSettings],
  };
}

function toCircuitView(circuit: Circuit, now: Date) {
  const { failures, openUntil, lastAnswerAt, lastFailure } = circuit;
  const open = isOpen(circuit, now.getTime());
  return {
    circuit: { open, failures, open_until: open ? new Date(openUntil).toISOString() : null },
    last_answer_at: lastAnswerAt === null ? null : new Date(lastAnswerAt).toISOString(),
    last_failure: lastFailure,
  };
}
