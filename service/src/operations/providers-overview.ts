// Lists each provider with its capabilities, missing settings, and what all processes know of it.
import type { ProviderOverview } from '@mediary/contract/schemas/admin/operators';
import { type Circuit, CLOSED_CIRCUIT, isOpen } from '../providers/circuit.ts';
import type { ProcessCircuit } from '../providers/workers.ts';
import type { Provider } from '../providers/provider.ts';
import type { OperationsContext } from './context.ts';
import { findLastWebhooks } from './operations.sql.ts';

export async function listProviderOverviews(ctx: OperationsContext): Promise<ProviderOverview[]> {
  const { registry, listCircuits } = ctx.providers;
  const [webhooks, known] = await Promise.all([
    findLastWebhooks(ctx.db, [...registry.keys()]),
    listCircuits(ctx.machine.host),
  ]);
  const byProvider = new Map(webhooks.map((row) => [row.provider, row]));
  return [...registry.values()].map((provider) => {
    const last = byProvider.get(provider.name);
    const circuits = known.filter(({ provider: name }) => name === provider.name);
    return {
      ...toSettingsView(provider),
      ...toCircuitView(joinCircuits(circuits), ctx.now()),
      processes: circuits.map(({ host, circuit }) => ({ host, ...toCircuitView(circuit, ctx.now()) })),
      last_webhook_at: last?.received_at?.toISOString() ?? null,
      last_webhook_reason: last?.reason ?? null,
    };
  });
}

/** The process with most failures decides; without failures, the one with the latest answer. */
function joinCircuits(processes: readonly ProcessCircuit[]): Circuit {
  const circuits = processes.map(({ circuit }) => circuit);
  const [worst = CLOSED_CIRCUIT] = circuits.toSorted(
    (a, b) => b.failures - a.failures || (b.lastAnswerAt ?? 0) - (a.lastAnswerAt ?? 0),
  );
  const answers = circuits.flatMap(({ lastAnswerAt }) => lastAnswerAt ?? []);
  return {
    ...worst,
    openUntil: Math.max(...circuits.map(({ openUntil }) => openUntil), 0),
    lastAnswerAt: answers.length > 0 ? Math.max(...answers) : null,
  };
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
