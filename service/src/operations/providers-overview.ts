// What each provider is capable of, whether it is configured, and how it fares.
import type { ProviderOverview } from '@mediary/contract/schemas/operators';
import type { ProviderName } from '../assets/asset.ts';
import type { Database } from '../platform/postgres/database.ts';
import { type Circuit, CLOSED_CIRCUIT, isOpen } from '../providers/circuit.ts';
import type { Providers } from '../providers/provider.ts';
import { lastWebhooks } from './providers-overview.sql.ts';

export type OverviewNeeds = {
  readonly db: Database;
  readonly providers: Providers;
  /** Of this process alone. */
  readonly circuits: ReadonlyMap<ProviderName, Circuit>;
  readonly now: () => Date;
};

export async function listProviderOverviews({
  db,
  providers,
  circuits,
  now,
}: OverviewNeeds): Promise<ProviderOverview[]> {
  const heard = new Map((await lastWebhooks(db, [...providers.keys()])).map((row) => [row.provider, row]));
  return [...providers.values()].map(
    ({ name, kind, capabilities: { missingSettings, signedPlayback, ...capabilities } }) => {
      const circuit = circuits.get(name) ?? CLOSED_CIRCUIT;
      const { failures, openUntil: closedUntil, lastAnswerAt, lastFailure } = circuit;
      const open = isOpen(circuit, now().getTime());
      return {
        name,
        kind,
        configured: capabilities.webhooks && capabilities.uploads,
        capabilities: { ...capabilities, signed_playback: signedPlayback },
        missing_settings: [...missingSettings],
        circuit: { open, failures, open_until: open ? new Date(closedUntil).toISOString() : null },
        last_answer_at: lastAnswerAt === null ? null : new Date(lastAnswerAt).toISOString(),
        last_failure: lastFailure,
        last_webhook_at: heard.get(name)?.received_at?.toISOString() ?? null,
        last_webhook_reason: heard.get(name)?.reason ?? null,
      };
    },
  );
}
