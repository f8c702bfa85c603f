// The token that takes a video's place in the addresses of edgehost where they have to be signed: a JWT by RS256.
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';

export type SigningKey = { readonly id: string; readonly key: KeyObject };

/** An RSA key from the text of its PEM, line ends written as `\n` or not, or from the base64 of it, as the product hands it out; undefined for anything else. */
export function signingKeyIn(text: string): KeyObject | undefined {
  const pem = text.includes('-----BEGIN')
    ? text.replaceAll('\\n', '\n')
    : Buffer.from(text, 'base64').toString();
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'rsa' ? key : undefined;
  } catch {
    // Whoever reads the settings names the one that is wrong.
    return undefined;
  }
}

/** A token may be valid for a day; the product's clock may run behind ours. */
const LONGEST_S = 86_400 - 300;

export const tokenEnd = (expires: number, now: number): number =>
  Math.floor(Math.min(expires, now + LONGEST_S));

/** `expires` and `now`: seconds since 1970. */
export type TokenWish = {
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
