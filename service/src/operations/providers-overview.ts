// Lists each provider with its capabilities, missing settings and recent contact.
import type { ProviderOverview } from '@mediary/contract/schemas/operators';
import type { ProviderName } from '../assets/asset.ts';
import type { Database } from '../platform/postgres/database.ts';
import { type Circuit, CLOSED_CIRCUIT, isOpen } from '../providers/circuit.ts';
import type { Provider, Providers } from '../providers/provider.ts';
import { findLastWebhooks } from './operations.sql.ts';

type OverviewNeeds = {
  readonly db: Database;
  readonly providers: Providers;
  /** Circuit breakers of this process only. */
  readonly circuits: ReadonlyMap<ProviderName, Circuit>;
  readonly now: () => Date;
};

export async function listProviderOverviews(needs: OverviewNeeds): Promise<ProviderOverview[]> {
  const { db, providers } = needs;
  const webhooks = await findLastWebhooks(db, [...providers.keys()]);
  const byProvider = new Map(webhooks.map((row) => [row.provider, row]));
  return [...providers.values()].map((provider) => {
    const last = byProvider.get(provider.name);
    return {
      ...toSettingsView(provider),
      ...toCircuitView(needs, provider.name),
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

function toCircuitView({ circuits, now }: OverviewNeeds, name: ProviderName) {
  const circuit = circuits.get(name) ?? CLOSED_CIRCUIT;
  const { failures, openUntil, lastAnswerAt, lastFailure } = circuit;
  const open = isOpen(circuit, now().getTime());
  return {
    circuit: { open, failures, open_until: open ? new Date(openUntil).toISOString() : null },
    last_answer_at: lastAnswerAt === null ? null : new Date(lastAnswerAt).toISOString(),
    last_failure: lastFailure,
  };
}
