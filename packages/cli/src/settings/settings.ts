// The settings of one run: flags, then environment, then the profile, then a service on this machine.
import { isLoopbackUrl } from '@mediary/checks/connection';
import { usageError } from '../exit-codes.ts';
import type { LocalSecrets } from './local-secrets.ts';
import type { Profile } from './profiles.ts';

export const DEFAULT_URL = 'http://127.0.0.1:8080';

export type Credential =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'service key'; readonly key: string };

type SettingPlace = 'flag' | 'environment' | 'profile' | 'data folder' | 'default';

export type Settings = {
  /** Without a trailing slash. */
  readonly url: string;
  readonly profile: string | undefined;
  readonly credential: Credential | undefined;
  readonly operatorKey: string | undefined;
  readonly owner: string | undefined;
  readonly accessTokenSecret: string | undefined;
  readonly sources: Readonly<
    Record<'url' | 'credential' | 'operatorKey' | 'owner', SettingPlace | undefined>
  >;
  readonly warnings: readonly string[];
};

/** One place that settings come from; empty texts count as missing. */
type Layer = {
  readonly source: SettingPlace;
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly serviceKey?: string | undefined;
  readonly operatorKey?: string | undefined;
  readonly owner?: string | undefined;
};

export type Flags = Omit<Layer, 'source'> & { readonly profile?: string | undefined };

export type SettingsInput = {
  readonly flags: Flags;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly profile: { readonly name: string; readonly profile: Profile } | undefined;
  readonly local: LocalSecrets | undefined;
  /** The owner of uploads to a service on this machine, unless another one is named. */
  readonly userName: string;
};

const ENV = {
  url: 'MEDIARY_URL',
  token: 'MEDIARY_TOKEN',
  serviceKey: 'MEDIARY_SERVICE_KEY',
  operatorKey: 'MEDIARY_OPERATOR_KEY',
  owner: 'MEDIARY_OWNER',
} as const;

export function resolveSettings(input: SettingsInput): Settings {
  const url = normalizeUrl(
    input.flags.url || input.env[ENV.url] || input.profile?.profile.url || DEFAULT_URL,
  );
  const profile = toProfileLayer(input, url);
  const layers = [
    { source: 'flag', ...input.flags } as const,
    toEnvironmentLayer(input),
    ...(profile.layer ? [profile.layer] : []),
    ...toLocalLayers(input, url),
  ] satisfies Layer[];
  const credential = findCredential(layers);
  const operatorKey = findText(layers, 'operatorKey');
  const owner = findText(ownerLayers(layers, credential?.source), 'owner');
  return {
    url,
    profile: input.profile?.name,
    credential: credential?.value,
    operatorKey: operatorKey?.value,
    owner: owner?.value,
    accessTokenSecret: input.env['ACCESS_TOKEN_SECRET'] || localOf(input, url)?.accessTokenSecret,
    sources: {
      url: findText(layers, 'url')?.source ?? (input.profile ? 'profile' : 'default'),
      credential: credential?.source,
      operatorKey: operatorKey?.source,
      owner: owner?.source,
    },
    warnings: profile.warnings,
  };
}

/** The origin, and the path of a service that is not at the root. `/api/v1` at the end is dropped. */
export function normalizeUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw usageError(`"${text}" is not an http or https URL.`, 'Example: --url https://media.example.com');
  if (url.username || url.password) throw usageError('The URL must not contain a user name or password.');
  return url.origin + url.pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
}

const toEnvironmentLayer = ({ env }: SettingsInput): Layer => ({
  source: 'environment',
  url: env[ENV.url],
  token: env[ENV.token],
  serviceKey: env[ENV.serviceKey],
  operatorKey: env[ENV.operatorKey],
  owner: env[ENV.owner],
});

/** Credentials of a profile are sent to the URL of that profile alone. */
function toProfileLayer(
  { profile }: SettingsInput,
  url: string,
): { readonly layer?: Layer; readonly warnings: readonly string[] } {
  if (!profile) return { warnings: [] };
  const { name, profile: stored } = profile;
  if (normalizeUrl(stored.url) !== url)
    return {
      warnings: [`Profile "${name}" is for ${stored.url}; its credentials are not sent to ${url}.`],
    };
  return {
    warnings: [],
    layer: {
      source: 'profile',
      url: stored.url,
      token: stored.token,
      serviceKey: stored.service_key,
      operatorKey: stored.operator_key,
      owner: stored.owner,
    },
  };
}

const localOf = ({ local }: SettingsInput, url: string): LocalSecrets | undefined =>
  isLoopbackUrl(url) ? local : undefined;

function toLocalLayers(input: SettingsInput, url: string): Layer[] {
  const local = localOf(input, url);
  if (!local) return [];
  const { serviceKey, operatorKey } = local;
  return [{ source: 'data folder', serviceKey, operatorKey, owner: input.userName }];
}

/** The default owner of the data folder belongs to its service key, not to a key from elsewhere. */
const ownerLayers = (layers: readonly Layer[], credential: SettingPlace | undefined): readonly Layer[] =>
  credential === 'data folder' ? layers : layers.filter(({ source }) => source !== 'data folder');

function findText(
  layers: readonly Layer[],
  name: 'url' | 'operatorKey' | 'owner',
): { readonly value: string; readonly source: SettingPlace } | undefined {
  const layer = layers.find((candidate) => candidate[name]);
  return layer && { value: layer[name] ?? '', source: layer.source };
}

/** The first layer with a credential decides, so that a request never carries two. */
function findCredential(
  layers: readonly Layer[],
): { readonly value: Credential; readonly source: SettingPlace } | undefined {
  const layer = layers.find(({ token, serviceKey }) => token || serviceKey);
  if (!layer) return undefined;
  const { source, token, serviceKey } = layer;
  if (token && serviceKey)
    throw usageError(
      `The ${source} has both a token and a service key, and the API accepts one of them.`,
      source === 'environment' ? `Unset ${ENV.token} or ${ENV.serviceKey}.` : 'Remove one of them.',
    );
  return { source, value: token ? { kind: 'token', token } : { kind: 'service key', key: serviceKey ?? '' } };
}
