// Signs playback tokens of edgehost: a JWT with RS256 that replaces the video id in URLs.
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';

export type SigningKey = { readonly id: string; readonly key: KeyObject };

/** Parses an RSA key from PEM text, with real or escaped line ends, or from Base64 of the PEM. Undefined for anything else. */
export function signingKeyIn(text: string): KeyObject | undefined {
  const pem = text.includes('-----BEGIN')
    ? text.replaceAll('\\n', '\n')
    : Buffer.from(text, 'base64').toString();
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'rsa' ? key : undefined;
  } catch {
    // The settings reader reports the invalid setting.
    return undefined;
  }
}

/** A token is valid for at most one day. The margin allows for a slow clock of the product. */
const LONGEST_S = 86_400 - 300;

export const tokenEnd = (expires: number, now: number): number =>
  Math.floor(Math.min(expires, now + LONGEST_S));

/** `expires` and `now` are in seconds since 1970. */
type TokenWish = {
  readonly videoId: string;
  readonly expires: number;
  readonly now: number;
  readonly downloadable?: true;
};

export function videoToken(
  { id, key }: SigningKey,
  { videoId, expires, now, downloadable }: TokenWish,
): string {
  const claims = {
    sub: videoId,
    kid: id,
    exp: tokenEnd(expires, now),
    ...(downloadable && { downloadable }),
  };
  const signed = [{ alg: 'RS256', kid: id }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), key).toString('base64url')}`;
}
