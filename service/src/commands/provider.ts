// Tries the settings of a hosted provider, and has it send its webhooks here: `npm run provider -- check|register <provider>`.
import type { ProviderName } from '../assets/asset.ts';
import type { Config } from '../config.ts';
import type { Adapters } from '../adapters.ts';
import { getProvider } from '../providers/provider.ts';
import { isLoopbackHost, isPrivateHost } from '../platform/private-address.ts';

type CommandContext = {
  readonly config: Pick<Config, 'publicBaseUrl'>;
  readonly providers: Adapters['providers'];
  readonly say: (text: string) => void;
};

type Act = (lent: CommandContext, name: ProviderName) => Promise<void>;

/** Throws with what is wrong, in words. */
export async function runProviderCommand(
  lent: CommandContext,
  [verb = '', wanted = '']: readonly string[],
): Promise<void> {
  const hosted = [...lent.providers.values()].filter(({ kind }) => kind === 'hosted').map(({ name }) => name);
  const name = hosted.find((known) => known === wanted);
  const act = ACTS.get(verb);
  if (!act || !name)
    throw new Error(`Usage: npm run provider -- ${[...ACTS.keys()].join('|')} ${hosted.join('|')}`);
  await act(lent, name);
}

const check: Act = async (lent, name) => {
  const wrong = await apiOf(lent, name).check();
  if (wrong.length > 0)
    throw new Error(`${name} is not as it should be:\n${wrong.map((words) => `  - ${words}\n`).join('')}`);
  const { missingSettings, ...capabilities } = getProvider(lent.providers, name).capabilities;
  const able = Object.entries(capabilities)
    .filter(([, can]) => can)
    .map(([what]) => what);
  lent.say(
    `${name}: ok\n  can: ${able.join(', ')}\n${missingSettings.length > 0 ? `  not set: ${missingSettings.join(', ')}\n` : ''}`,
  );
};

const register: Act = async (lent, name) => {
  const { registerWebhook } = apiOf(lent, name);
  const url = webhookUrl(lent, name);
  if (!registerWebhook)
    throw new Error(`${name} takes the address of its webhooks in its own console alone. It is ${url}`);
  const { secret, setting } = await registerWebhook(url);
  lent.say(
    `The webhooks of ${name} go to ${url}\nThis is shown once. Set it, and start the service again:\n\n  ${setting}=${secret}\n\n`,
  );
};

const ACTS: ReadonlyMap<string, Act> = new Map([
  ['check', check],
  ['register', register],
]);

function apiOf({ providers }: CommandContext, name: ProviderName) {
  const { api, capabilities } = getProvider(providers, name);
  if (!api) throw new Error(`${name} is not configured. Not set: ${capabilities.missingSettings.join(', ')}`);
  return api;
}

/** What is not reachable from outside is of no use to a provider that is there; one on this machine is a simulator. */
function webhookUrl({ config: { publicBaseUrl }, providers }: CommandContext, name: ProviderName): string {
  if (publicBaseUrl === undefined)
    throw new Error('PUBLIC_BASE_URL is not set: the provider has to know where to send its webhooks');
  const { api } = getProvider(providers, name);
  const isHere = api !== undefined && isLoopbackHost(new URL(api.url).hostname);
  if (!isHere && isPrivateHost(new URL(publicBaseUrl).hostname))
    throw new Error(
      `PUBLIC_BASE_URL is ${publicBaseUrl}, which ${name} cannot reach: it has to be an address that the world can`,
    );
  return `${publicBaseUrl}/api/v1/webhooks/stream/${name}`;
}
