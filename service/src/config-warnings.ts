// Warnings about settings: secrets that are short or equal, and settings without effect.
import type { ProviderName } from './assets/asset.ts';
import type { TokenIssuer } from './auth/tokens/issuer-token.ts';
import { issuerWarnings, OWN_SECRETS } from './auth/settings.ts';
import { type OutboundPurpose, outboundWarnings } from './platform/outbound/settings.ts';
import { type Environment, namesOf, type Settings } from './platform/settings/read-settings.ts';
import { unknownSettingWarnings } from './platform/settings/unknown-settings.ts';
import type { RegisteredProvider } from './providers/provider-module.ts';

const MIN_SECRET_LENGTH = 32;

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

type WarnedValues = {
  readonly issuer: TokenIssuer | undefined;
  readonly allowUnsigned: readonly ProviderName[];
  readonly outboundAllowPrivate: readonly OutboundPurpose[];
};

type WarningSources = {
  readonly settings: Settings;
  readonly environment: Environment;
  readonly modules: readonly RegisteredProvider[];
};

/** Problems that do not stop the start. */
export const settingWarnings = (
  values: WarnedValues,
  { settings, environment, modules }: WarningSources,
): string[] => [
  ...secretWarnings(settings, modules),
  ...issuerWarnings(values.issuer),
  ...unsignedWarnings(settings, modules, values.allowUnsigned),
  ...playbackHostWarnings(settings, modules),
  ...outboundWarnings(values.outboundAllowPrivate),
  ...unknownSettingWarnings(environment, {
    names: namesOf(settings.groups),
    prefixes: ['MEDIARY_', ...modules.map(({ name }) => `${name.toUpperCase()}_`)],
  }),
];
