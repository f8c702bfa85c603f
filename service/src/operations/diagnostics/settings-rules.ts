// Judges settings that are valid, but risky in production.
import type { Secret } from '../../auth/secret.ts';
import { type Finding, ok, problem, warning } from '@mediary/checks/finding';

type RiskySettings = {
  readonly tokenSecrets: readonly Secret[];
  readonly serviceKeys: readonly Secret[];
  readonly operatorKeys: readonly Secret[];
  readonly urlSecrets: Readonly<Record<'current' | 'previous', Secret | undefined>>;
  readonly databaseUrl: string | undefined;
  readonly publicBaseUrl: string | undefined;
  readonly host: string;
  readonly allowUnsigned: readonly string[];
  readonly outboundAllowPrivate: readonly string[];
  /** The warnings of the start. */
  readonly warnings: readonly string[];
};

type HostRules = { readonly isLoopbackHost: (host: string) => boolean };

export const judgeSettings = (settings: RiskySettings, rules: HostRules): Finding[] => [
  judgeSecrets(settings),
  judgePublicScheme(settings, rules),
  judgeEmbedded(settings, rules),
  judgeUnsigned(settings),
  judgePrivateOutbound(settings),
  judgeStartWarnings(settings),
];

const MIN_LENGTH = 32;

function judgeSecrets({ tokenSecrets, serviceKeys, operatorKeys, urlSecrets }: RiskySettings): Finding {
  const check = 'settings.secrets';
  const named = {
    ACCESS_TOKEN_SECRET: tokenSecrets,
    SERVICE_API_KEY: serviceKeys,
    OPERATOR_KEY: operatorKeys,
    URL_SIGNING_SECRET: Object.values(urlSecrets).filter((secret) => secret !== undefined),
  };
  const short = Object.entries(named)
    .filter(([, secrets]) => secrets.some((secret) => secret.reveal().length < MIN_LENGTH))
    .map(([name]) => name);
  return short.length === 0
    ? ok(check, `Secrets have at least ${MIN_LENGTH} characters.`)
    : warning(check, {
        message: `Secrets are shorter than ${MIN_LENGTH} characters: ${short.join(', ')}.`,
        fix:
          'Replace each by the output of "openssl rand -hex 32", and move the old value to the setting ' +
          'with the suffix _PREVIOUS for a while.',
        details: { short },
      });
}

const hostOf = (url: string): string => new URL(url).hostname;

function judgePublicScheme({ publicBaseUrl, host }: RiskySettings, { isLoopbackHost }: HostRules): Finding {
  const check = 'settings.public_url';
  if (publicBaseUrl === undefined)
    return isLoopbackHost(host)
      ? ok(check, 'PUBLIC_BASE_URL is not set, and only this machine reaches the service.')
      : problem(check, {
          message: 'PUBLIC_BASE_URL is not set: URLs for clients name 127.0.0.1.',
          fix: 'Set PUBLIC_BASE_URL to the address that clients use.',
        });
  if (publicBaseUrl.startsWith('https:') || isLoopbackHost(hostOf(publicBaseUrl)))
    return ok(check, 'URLs for clients use TLS or stay on this machine.');
  return problem(check, {
    message: 'PUBLIC_BASE_URL is http: tokens and files cross the network unencrypted.',
    fix: 'Add TLS to the proxy, and set PUBLIC_BASE_URL to its https address.',
  });
}

function judgeEmbedded(
  { databaseUrl, publicBaseUrl }: RiskySettings,
  { isLoopbackHost }: HostRules,
): Finding {
  const check = 'settings.embedded_database';
  if (databaseUrl !== undefined) return ok(check, 'The database is an external server.');
  if (publicBaseUrl === undefined || isLoopbackHost(hostOf(publicBaseUrl)))
    return ok(check, 'The embedded database serves this machine.');
  return warning(check, {
    message:
      'The service is public, but uses the embedded database, and generates the secrets that are not set.',
    fix: 'Set DATABASE_URL, ACCESS_TOKEN_SECRET, SERVICE_API_KEY and OPERATOR_KEY, and back the database up.',
  });
}

function judgeUnsigned({ allowUnsigned }: RiskySettings): Finding {
  const check = 'settings.unsigned_webhooks';
  return allowUnsigned.length === 0
    ? ok(check, 'Webhooks need a signature.')
    : warning(check, {
        message: `WEBHOOKS_ALLOW_UNSIGNED is set: anybody can send webhooks of ${allowUnsigned.join(', ')}.`,
        fix: 'Set the webhook secret of the provider, and unset WEBHOOKS_ALLOW_UNSIGNED.',
        details: { providers: allowUnsigned },
      });
}

function judgePrivateOutbound({ outboundAllowPrivate }: RiskySettings): Finding {
  const check = 'settings.private_outbound';
  return outboundAllowPrivate.length === 0
    ? ok(check, 'Outbound requests reach public addresses only.')
    : warning(check, {
        message:
          `OUTBOUND_ALLOW_PRIVATE is set: ${outboundAllowPrivate.join(', ')} ` +
          'can reach the private network.',
        fix: 'Unset it where callers are not trusted to send requests into the private network.',
        details: { purposes: outboundAllowPrivate },
      });
}

function judgeStartWarnings({ warnings }: RiskySettings): Finding {
  const check = 'settings.start_warnings';
  return warnings.length === 0
    ? ok(check, 'The settings caused no warnings at the start.')
    : warning(check, {
        message: `Warnings at the start (${warnings.length}): ${warnings[0]}`,
        fix: 'Change the settings as details.warnings say.',
        details: { warnings },
      });
}
