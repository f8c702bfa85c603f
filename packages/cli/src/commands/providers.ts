// `providers`: the video providers with their capabilities and health, for operators.
import type { Command } from 'commander';
import { type Handler, openOperatorApi, type Runner } from '../context.ts';
import { formatTable, formatTime } from '../text.ts';

type Provider = {
  readonly name: string;
  readonly kind: string;
  readonly configured: boolean;
  readonly capabilities: Readonly<Record<string, boolean>>;
  readonly missing_settings: readonly string[];
  readonly circuit: { readonly open: boolean };
  readonly last_failure: string | null;
  readonly last_webhook_at: string | null;
};

export const addProvidersCommand = (program: Command, run: Runner): Command =>
  program
    .command('providers')
    .description('List the video providers with their capabilities and health (operator key)')
    .action(run(listProviders));

const listProviders: Handler = async (context) => {
  const api = await openOperatorApi(context);
  const providers = await api.get<{ readonly items: readonly Provider[] }>('/providers');
  context.output.result(providers, () =>
    formatTable(['NAME', 'KIND', 'STATE', 'LAST WEBHOOK', 'CAPABILITIES'], providers.items.map(toRow)),
  );
};

const toRow = (provider: Provider) => [
  provider.name,
  provider.kind,
  describeState(provider),
  provider.last_webhook_at && formatTime(provider.last_webhook_at),
  Object.entries(provider.capabilities)
    .filter(([, isAvailable]) => isAvailable)
    .map(([name]) => name)
    .sort()
    .join(', '),
];

function describeState({ configured, missing_settings: missing, circuit, last_failure }: Provider): string {
  if (circuit.open) return `unavailable: ${last_failure ?? 'its API fails'}`;
  if (configured) return 'configured';
  return missing.length > 0 ? `not set: ${missing.join(', ')}` : 'not configured';
}
