// `npm run provider -- check|register <name> [--json]`: checks a hosted provider's settings, or registers its
// webhook URL.
import type { Adapters } from '../adapters.ts';
import type { ProviderName } from '../assets/asset.ts';
import type { Config } from '../config.ts';
import { isLoopbackHost, isPrivateHost } from '../platform/outbound/private-address.ts';
import { type SettingFinding, getProvider } from '../providers/provider.ts';

type CommandContext = {
  /** Print findings as JSON. */
  readonly isJson?: boolean;
  readonly config: Pick<Config, 'publicBaseUrl'>;
  readonly providers: Adapters['providers'];
  readonly print: (text: string) => void;
};

type Action = (context: CommandContext, name: ProviderName) => Promise<void>;

/** Throws an error whose message tells the operator what is wrong. */
export async function runProviderCommand(
  context: Omit<CommandContext, 'isJson'>,
  args: readonly string[],
): Promise<void> {
  const isJson = args.includes('--json');
  const [actionName = '', providerName = ''] = args.filter((arg) => arg !== '--json');
  const hosted = [...context.providers.values()]
    .filter(({ kind }) => kind === 'hosted')
    .map(({ name }) => name);
  const name = hosted.find((known) => known === providerName);
  const action = ACTIONS.get(actionName);
  if (!action || !name)
    throw new Error(
      `Usage: npm run provider -- ${[...ACTIONS.keys()].join('|')} ${hosted.join('|')} [--json]`,
    );
  await action({ ...context, isJson }, name);
}

/** Throws when there is a problem, so that the exit code is 1. */
const check: Action = async (context, name) => {
  const { publicBaseUrl } = context.config;
  const findings = await getApi(context, name).check({
    webhookUrl: publicBaseUrl && toWebhookUrl(publicBaseUrl, name),
  });
  context.print(
    context.isJson
      ? `${JSON.stringify({ provider: name, findings }, null, 2)}\n`
      : renderTable(name, findings),
  );
  const problems = findings.filter(({ result }) => result === 'problem').length;
  if (problems > 0) throw new Error(`${name}: ${problems} ${problems === 1 ? 'problem' : 'problems'}`);
};

/** One line for each setting: result, name, and what was found. */
function renderTable(name: ProviderName, findings: readonly SettingFinding[]): string {
  const [resultWidth, settingWidth] = [
    Math.max(...findings.map(({ result }) => result.length)),
    Math.max(...findings.map(({ setting }) => setting.length)),
  ];
  const lines = findings.map(
    ({ result, setting, detail }) =>
      `  ${result.padEnd(resultWidth)}  ${setting.padEnd(settingWidth)}  ${detail}`,
  );
  return `${[name, ...lines].join('\n')}\n`;
}

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
  return toWebhookUrl(publicBaseUrl, name);
}

const toWebhookUrl = (publicBaseUrl: string, name: ProviderName): string =>
  `${publicBaseUrl}/api/v1/webhooks/stream/${name}`;
