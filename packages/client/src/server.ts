// @mediary/client/server: what needs a secret, for back ends only.
import { toBase64 } from './encoding.ts';

export type AccessTokenOptions = {
  /** `ACCESS_TOKEN_SECRET` of the service. */
  secret: string;
  /** Owner of what the bearer creates, 1–255 characters. */
  userId: string | number;
  /** Seconds until the token expires. Default 900. */
  expiresInS?: number | undefined;
};

/**
 * Signs an access token (JWT, HS256) for a user. Call it where you know who the user is, never in a browser.
 *
 * @example const token = await signAccessToken({ secret: process.env.ACCESS_TOKEN_SECRET, userId: 'ann' });
 */
export async function signAccessToken({
  secret,
  userId,
  expiresInS = 900,
}: AccessTokenOptions): Promise<string> {
  if (secret === '') throw new TypeError('The secret is empty.');
  const iat = Math.floor(Date.now() / 1000);
  const claims = { user_id: userId, type: 'access', iat, exp: iat + expiresInS };
  const content = `${toSegment({ alg: 'HS256', typ: 'JWT' })}.${toSegment(claims)}`;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encode(secret), algorithm, false, ['sign']);
  return `${content}.${toBase64Url(new Uint8Array(await crypto.subtle.sign('HMAC', key, encode(content))))}`;
}

const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
const toSegment = (value: object): string => toBase64Url(encode(JSON.stringify(value)));
const toBase64Url = (bytes: Uint8Array): string =>
  toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
