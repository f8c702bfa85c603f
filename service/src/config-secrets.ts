// The service's own secrets, and weaknesses of secrets that do not stop the start, in words for the operator.
import type { ProviderName } from './assets/asset.ts';
import type { Settings } from './platform/settings.ts';
import type { RegisteredProvider } from './providers/provider-module.ts';

/** Generated once on a laptop; a service with its own database must be given them. */
export const OWN_SECRETS = ['ACCESS_TOKEN_SECRET', 'SERVICE_API_KEY', 'OPERATOR_KEY'] as const;

const MIN_SECRET_LENGTH = 32;

/** Secrets that are short, or used twice. */
function secretWarnings({ text }: Settings, modules: readonly RegisteredProvider[]): string[] {
  const names = [...OWN_SECRETS, 'URL_SIGNING_SECRET', ...modules.map(({ secrets: [name] }) => name)];
  const short = names.filter((name) => (text(name)?.length ?? MIN_SECRET_LENGTH) < MIN_SECRET_LENGTH);
  const equal = names.flatMap((name, index) =>
    names
      .slice(index + 1)
      .filter((other) => text(name) !== undefined && text(name) === text(other))
      .map((other) => `${name} and ${other} are the same`),
  );
  return [...short.map((name) => `${name} is shorter than ${MIN_SECRET_LENGTH} characters`), ...equal];
}

/** Webhooks that accept unsigned calls. */
const unsignedWarnings = (
  { text }: Settings,
  modules: readonly RegisteredProvider[],
  allowed: readonly ProviderName[],
): string[] =>
  modules
    .filter(({ name, secrets: [secret] }) => allowed.includes(name) && !text(secret))
    .map(
      ({ name, secrets: [secret] }) =>
        `the ${name} webhook accepts unsigned calls: ${secret} is not set and WEBHOOKS_ALLOW_UNSIGNED names it`,
    );

/** Hosted providers that are in use, and whose playback addresses cannot be built. */
const playbackHostWarnings = ({ text }: Settings, modules: readonly RegisteredProvider[]): string[] =>
  modules.flatMap(({ name, secrets, playbackHost }) =>
    playbackHost !== undefined && secrets.some((secret) => text(secret)) && !text(playbackHost)
      ? [`${playbackHost} is not set: videos of ${name} may become ready without playback addresses`]
      : [],
  );

/** Weaknesses that do not stop the start. */
export const settingWarnings = (
  settings: Settings,
  modules: readonly RegisteredProvider[],
  allowUnsigned: readonly ProviderName[],
): string[] => [
  ...secretWarnings(settings, modules),
  ...unsignedWarnings(settings, modules, allowUnsigned),
  ...playbackHostWarnings(settings, modules),
];
