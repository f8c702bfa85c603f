// What each provider is capable of, whether it is configured, and how it fares.
import { PROVIDERS, type ProviderName } from '../assets/asset.ts';
import type { Database } from '../platform/postgres/database.ts';
import { type Circuit, FRESH } from '../providers/circuit.ts';
import type { Capabilities, Provider } from '../providers/provider.ts';
import { lastWebhooks } from './providers-overview.sql.ts';

export type OverviewNeeds = {
  readonly db: Database; readonly providers: Readonly<Record<ProviderName, Provider>>;
  /** Of this process alone. */
  readonly circuits: ReadonlyMap<ProviderName, Circuit>;
  readonly now: () => Date;
};

export type ProviderOverview = {
  readonly name: ProviderName; readonly kind: Provider['kind']; readonly configured: boolean; readonly capabilities: Capabilities;
  readonly circuit: { readonly open: boolean; readonly failures: number; readonly open_until: string | null };
  readonly last_answer_at: string | null; readonly last_failure: string | null;
  readonly last_webhook_at: string | null; readonly last_webhook_reason: string | null;
};

export async function providersOverview({ db, providers, circuits, now }: OverviewNeeds): Promise<ProviderOverview[]> {
  const heard = new Map((await lastWebhooks(db, PROVIDERS)).map((row) => [row.provider, row]));
  return PROVIDERS.map((name) => {
    const { kind, capabilities } = providers[name];
    const { failures, closedUntil, lastAnswerAt, lastFailure } = circuits.get(name) ?? FRESH;
    const isOpen = closedUntil > now().getTime();
    return {
      name, kind, configured: capabilities.missingSettings.length === 0, capabilities,
      circuit: { open: isOpen, failures, open_until: isOpen ? new Date(closedUntil).toISOString() : null },
      last_answer_at: lastAnswerAt === null ? null : new Date(lastAnswerAt).toISOString(), last_failure: lastFailure,
      last_webhook_at: heard.get(name)?.received_at?.toISOString() ?? null, last_webhook_reason: heard.get(name)?.reason ?? null,
    };
  });
}
