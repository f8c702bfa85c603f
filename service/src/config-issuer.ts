// Settings of the identity provider whose access tokens are accepted beside those of ACCESS_TOKEN_SECRET.
import type { TokenIssuer } from './auth/issuer-token.ts';
import type { Settings } from './platform/settings.ts';

/** `ACCESS_TOKEN_ISSUER` is compared byte for byte, because some issuers end with a slash and some do not. */
export function readIssuer(settings: Settings): TokenIssuer | undefined {
  const { text, problems } = settings;
  const jwksUrl = text('ACCESS_TOKEN_JWKS_URL');
  const issuer = text('ACCESS_TOKEN_ISSUER');
  const others = {
    audience: text('ACCESS_TOKEN_AUDIENCE'),
    userClaim: text('ACCESS_TOKEN_USER_CLAIM'),
  };
  if (jwksUrl === undefined) {
    if (issuer !== undefined || others.audience !== undefined || others.userClaim !== undefined)
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
  return { jwksUrl, issuer: issuer ?? '', audience: others.audience, userClaim: others.userClaim ?? 'sub' };
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
export const issuerWarnings = ({ text }: Settings): string[] =>
  text('ACCESS_TOKEN_JWKS_URL') !== undefined && text('ACCESS_TOKEN_AUDIENCE') === undefined
    ? [
        'ACCESS_TOKEN_AUDIENCE is not set: tokens that the identity provider issued for other applications ' +
          'are accepted too',
      ]
    : [];
