// The service's own secrets: their names, values, and warnings about secrets and settings without effect.
import type { ProviderName } from './assets/asset.ts';
import { toSecret, type Secret } from './auth/secret.ts';
import { issuerWarnings, readIssuer } from './config-issuer.ts';
import type { Settings } from './platform/settings.ts';
import type { RegisteredProvider } from './providers/provider-module.ts';

/** Generated once with the embedded database; required where DATABASE_URL is set. */
export const OWN_SECRETS = ['ACCESS_TOKEN_SECRET', 'SERVICE_API_KEY', 'OPERATOR_KEY'] as const;

const MIN_SECRET_LENGTH = 32;

export const readSecrets = (settings: Settings) => ({
  issuer: readIssuer(settings),
  tokenSecrets: settings.rotating('ACCESS_TOKEN_SECRET').map(toSecret),
  serviceKeys: settings.rotating('SERVICE_API_KEY').map(toSecret),
  operatorKeys: settings.rotating('OPERATOR_KEY').map(toSecret),
  urlSecrets: readUrlSecrets(settings),
});

/** Apart from each other: without a current secret, the generated one is the current one. */
export type UrlSecrets = { readonly current: Secret | undefined; readonly previous: Secret | undefined };

function readUrlSecrets({ text }: Settings): UrlSecrets {
  const read = (name: string) => {
    const value = text(name);
    return value === undefined ? undefined : toSecret(value);
  };
  return { current: read('URL_SIGNING_SECRET'), previous: read('URL_SIGNING_SECRET_PREVIOUS') };
}

function secretWarnings({ text }: Settings, modules: readonly RegisteredProvider[]): string[] {
  const names = [...OWN_SECRETS, 'URL_SIGNING_SECRET', ...modules.map(({ secrets: [name] }) => name)];
  const short = names.filter((name) => (text(name)?.length ?? MIN_SECRET_LENGTH) < MIN_SECRET_LENGTH);
  const equal = names.flatMap((name, index) =>
    names
      .slice(index + 1)
      .filter((other) => text(name) !== undefined && text(name) === text(other))
      .map((other) => `${name} and ${other} have the same value. Use a different value for each.`),
  );
  return [
    ...short.map(
      (name) => `${name} is shorter than ${MIN_SECRET_LENGTH} characters. Use a longer random value.`,
    ),
    ...equal,
  ];
}

const unsignedWarnings = (
  { text }: Settings,
  modules: readonly RegisteredProvider[],
  allowed: readonly ProviderName[],
): string[] =>
  modules
    .filter(({ name, secrets: [secret] }) => allowed.includes(name) && !text(secret))
    .map(
      ({ name, secrets: [secret] }) =>
        `WEBHOOKS_ALLOW_UNSIGNED: the ${name} webhook accepts unsigned requests, ` +
        `because ${secret} is not set`,
    );

/** Configured hosted providers without the host name that their playback URLs need. */
const playbackHostWarnings = ({ text }: Settings, modules: readonly RegisteredProvider[]): string[] =>
  modules.flatMap(({ name, secrets, playbackHost }) =>
    playbackHost !== undefined && secrets.some((secret) => text(secret)) && !text(playbackHost)
      ? [`${playbackHost} is not set: videos of ${name} may become ready without playback URLs`]
      : [],
  );

/** Processes often share their environment, so the setting of workers does not stop the others. */
export const healthPortWarnings = ({ role, healthPort }: HealthSettings): string[] =>
  healthPort === undefined || role === 'worker'
    ? []
    : [
        `HEALTH_PORT has no effect where MEDIARY_ROLE is ${role}: ` +
          '/healthz and /readyz answer on PORT. It is for workers.',
      ];

type HealthSettings = { readonly role: string; readonly healthPort: number | undefined };

/** Problems that do not stop the start. */
export const settingWarnings = (
  settings: Settings,
  modules: readonly RegisteredProvider[],
  allowUnsigned: readonly ProviderName[],
): string[] => [
  ...secretWarnings(settings, modules),
  ...issuerWarnings(settings),
  ...unsignedWarnings(settings, modules, allowUnsigned),
  ...playbackHostWarnings(settings, modules),
];
