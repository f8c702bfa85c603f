// Settings of secrets and of access tokens (contract A4, B10).
import { optionalText, type Setting } from '../platform/settings/setting.ts';
import type { Settings } from '../platform/settings/read-settings.ts';
import type { TokenIssuer } from './tokens/issuer-token.ts';
import { type Secret, toSecret } from './secret.ts';
import { rotatedSecret } from './secret-settings.ts';

/** Generated once with the embedded database; required where DATABASE_URL is set. */
export const OWN_SECRETS = ['ACCESS_TOKEN_SECRET', 'SERVICE_API_KEY', 'OPERATOR_KEY'] as const;

const GENERATED = 'generated once, stored in `DATA_DIR/secrets.json`; required where `DATABASE_URL` is set';

/** Apart from each other: without a current secret, the generated one is the current one. */
type UrlSecrets = { readonly current: Secret | undefined; readonly previous: Secret | undefined };

const urlSecrets: Setting<UrlSecrets> = {
  name: 'URL_SIGNING_SECRET',
  type: 'secret',
  about:
    'Signs upload, download and playback URLs and cursors, and encrypts the secrets of webhook endpoints; ' +
    'how to [replace it](guides/going-to-production.md#2-secrets).',
  byDefault: 'generated once, stored in the database',
  isRotated: true,
  parse: ({ given, previous }) => ({
    current: given ? toSecret(given) : undefined,
    previous: previous ? toSecret(previous) : undefined,
  }),
};

const AUTH_SETTINGS = {
  title: 'Secrets and access tokens',
  settings: {
    tokenSecrets: rotatedSecret(
      'ACCESS_TOKEN_SECRET',
      'Verifies the access tokens (HS256) that your application issues to its users.',
      GENERATED,
    ),
    serviceKeys: rotatedSecret(
      'SERVICE_API_KEY',
      'The key with which back ends act for every owner; [named service keys](guides/service-keys.md) ' +
        'do less.',
      GENERATED,
    ),
    operatorKeys: rotatedSecret('OPERATOR_KEY', 'The key of the paths under `/admin`.', GENERATED),
    urlSecrets,
    issuer: {
      jwksUrl: optionalText(
        'ACCESS_TOKEN_JWKS_URL',
        'Where an identity provider publishes its keys: its RS256 and ES256 access tokens are accepted too ' +
          '([guide](guides/identity-provider.md)).',
        'no identity provider',
      ),
      issuer: optionalText(
        'ACCESS_TOKEN_ISSUER',
        'The `iss` of its tokens, compared byte for byte.',
        'required with `ACCESS_TOKEN_JWKS_URL`',
      ),
      audience: optionalText(
        'ACCESS_TOKEN_AUDIENCE',
        'A value of the `aud` of its tokens.',
        'every audience',
      ),
      userClaim: optionalText(
        'ACCESS_TOKEN_USER_CLAIM',
        'The claim of its tokens with the user id.',
        '`sub`',
      ),
    },
  },
};

export function readAuthSettings(settings: Settings) {
  const { issuer, ...secrets } = settings.read(AUTH_SETTINGS);
  return { ...secrets, issuer: toIssuer(issuer, settings.problems) };
}

type IssuerSettings = Readonly<Record<'jwksUrl' | 'issuer' | 'audience' | 'userClaim', string | undefined>>;

/** `ACCESS_TOKEN_ISSUER` is compared byte for byte, because some issuers end with a slash and some do not. */
function toIssuer(given: IssuerSettings, problems: string[]): TokenIssuer | undefined {
  const { jwksUrl, issuer, audience, userClaim } = given;
  if (jwksUrl === undefined) {
    if (issuer !== undefined || audience !== undefined || userClaim !== undefined)
      problems.push(
        'ACCESS_TOKEN_JWKS_URL must be set where ACCESS_TOKEN_ISSUER, _AUDIENCE or _USER_CLAIM is set',
      );
    return undefined;
  }
  if (!isKeyUrl(jwksUrl))
    problems.push('ACCESS_TOKEN_JWKS_URL must be an https URL without user name (http on loopback only)');
  if (issuer === undefined)
    problems.push(
      'ACCESS_TOKEN_ISSUER must be set where ACCESS_TOKEN_JWKS_URL is set: the "iss" of the tokens',
    );
  return { jwksUrl, issuer: issuer ?? '', audience, userClaim: userClaim ?? 'sub' };
}

/** Somebody who can change the keys on their way here could sign tokens of every user. */
function isKeyUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname, username, password } = new URL(value);
  const isLoopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
  return (
    username === '' && password === '' && (protocol === 'https:' || (protocol === 'http:' && isLoopback))
  );
}

/** An identity provider signs tokens for all of its applications with the same keys. */
export const issuerWarnings = (issuer: TokenIssuer | undefined): string[] =>
  issuer && issuer.audience === undefined
    ? [
        'ACCESS_TOKEN_AUDIENCE is not set: tokens that the identity provider issued for other applications ' +
          'are accepted too',
      ]
    : [];
