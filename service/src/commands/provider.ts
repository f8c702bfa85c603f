// `npm run provider -- check|register <name>`: checks a hosted provider's settings or registers its webhook.
import type { Adapters } from '../adapters.ts';
import type { ProviderName } from '../assets/asset.ts';
import type { Config } from '../config.ts';
import { isLoopbackHost, isPrivateHost } from '../platform/private-address.ts';
import { getProvider } from '../providers/provider.ts';

type CommandContext = {
  readonly config: Pick<Config, 'publicBaseUrl'>;
  readonly providers: Adapters['providers'];
  readonly print: (text: string) => void;
};

type Action = (context: CommandContext, name: ProviderName) => Promise<void>;

/** Throws an error whose message tells the operator what is wrong. */
export async function runProviderCommand(
  context: CommandContext,
  [actionName = '', providerName = '']: readonly string[],
): Promise<void> {
  const hosted = [...context.providers.values()]
    .filter(({ kind }) => kind === 'hosted')
    .map(({ name }) => name);
  const name = hosted.find((known) => known === providerName);
  const action = ACTIONS.get(actionName);
  if (!action || !name)
    throw new Error(`Usage: npm run provider -- ${[...ACTIONS.keys()].join('|')} ${hosted.join('|')}`);
  await action(context, name);
}

const check: Action = async (context, name) => {
  const problems = await getApi(context, name).check();
  if (problems.length > 0)
    throw new Error(`${name}: failed\n${problems.map((problem) => `  - ${problem}\n`).join('')}`);
  const { missingSettings, ...capabilities } = getProvider(context.providers, name).capabilities;
  const supported = Object.entries(capabilities)
    .filter(([, isSupported]) => isSupported)
    .map(([capability]) => capability);
  const unset = missingSettings.length > 0 ? `  not set: ${missingSettings.join(', ')}\n` : '';
  context.print(`${name}: ok\n  capabilities: ${supported.join(', ')}\n${unset}`);
};

const register: Action = async (context, name) => {
  const { registerWebhook } = getApi(context, name);
  const url = webhookUrl(context, name);
  if (!registerWebhook)
    throw new Error(`The webhook URL of ${name} can only be set in its own console. Set it there to ${url}`);
  const { secret, setting } = await registerWebhook(url);
  context.print(
    `${name} sends its webhooks to ${url}\nThe secret is shown only once. ` +
      `Set it and restart the service:\n\n  ${setting}=${secret}\n\n`,
  );
};

const ACTIONS: ReadonlyMap<string, Action> = new Map([
  ['check', check],
  ['register', register],
]);

function getApi({ providers }: CommandContext, name: ProviderName) {
  const { api, capabilities } = getProvider(providers, name);
  if (!api) throw new Error(`${name} is not configured. Not set: ${capabilities.missingSettings.join(', ')}`);
  return api;
}

/** A provider cannot reach a private address, unless it is a simulator on this machine. */
function webhookUrl({ config: { publicBaseUrl }, providers }: CommandContext, name: ProviderName): string {
  if (publicBaseUrl === undefined)
    throw new Error('PUBLIC_BASE_URL is not set. The provider sends its webhooks to this URL.');
  const { api } = getProvider(providers, name);
  const isSimulator = api !== undefined && isLoopbackHost(new URL(api.url).hostname);
  if (!isSimulator && isPrivateHost(new URL(publicBaseUrl).hostname))
    throw new Error(
      `PUBLIC_BASE_URL is ${publicBaseUrl}, which ${name} cannot reach. ` +
        'Set it to a URL that is reachable from the internet.',
    );
  return `${publicBaseUrl}/api/v1/webhooks/stream/${name}`;
}
