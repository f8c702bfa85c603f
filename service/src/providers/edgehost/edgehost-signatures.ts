// Signatures of edgehost: webhooks, and playback tokens that replace the video id in URLs (contract A5, B5,
// B6).
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { Secret } from '../../auth/secret.ts';
import { equalHex, type HeaderValues, hmacSha256 } from '../../auth/signature.ts';

type SignatureRules = {
  readonly secrets: readonly Secret[];
  readonly nowSeconds: number;
  /** Maximum difference from the current time in both directions; 0: unlimited. */
  readonly toleranceSeconds: number;
};

const HEADER = 'webhook-signature';
const TIME = /^[0-9]{1,12}$/;
/**
 * Proxies add blanks around commas; without a limit of their number, a long row of them would take quadratic
 * time. Two joined headers are rejected because of the second `time`.
 */
const COMMA = /[ \t]{0,8},[ \t]{0,8}/;

export function checkEdgehostSignature(
  headers: HeaderValues,
  body: Uint8Array,
  rules: SignatureRules,
): boolean {
  const [header, ...more] = headers(HEADER);
  if (header === undefined || more.length > 0) return false;
  const { times, signatures } = parse(header);
  const [time, ...moreTimes] = times;
  if (time === undefined || moreTimes.length > 0 || !isRecent(time, rules)) return false;
  return rules.secrets.some((secret) => {
    const expected = digest(time, body, secret);
    return signatures.some((signature) => equalHex(signature, expected));
  });
}

/** Formats the value of the signature header. */
export const signEdgehost = (body: Uint8Array, secret: Secret, timeSeconds: number): string =>
  `time=${timeSeconds},sig1=${digest(String(timeSeconds), body, secret).toString('hex')}`;

function parse(header: string): { times: string[]; signatures: string[] } {
  const pairs = header.split(COMMA).map(splitAtFirstEquals);
  const valuesOf = (wanted: string) => pairs.filter(([name]) => name === wanted).map(([, value]) => value);
  return { times: valuesOf('time'), signatures: valuesOf('sig1') };
}

function splitAtFirstEquals(pair: string): readonly [name: string, value: string] {
  const [name = '', ...rest] = pair.split('=');
  return [name, rest.join('=')];
}

const isRecent = (time: string, { nowSeconds, toleranceSeconds }: SignatureRules): boolean =>
  TIME.test(time) &&
  (toleranceSeconds === 0 || Math.abs(Math.floor(nowSeconds) - Number(time)) <= toleranceSeconds);

/** Signs the received text of the time, because a parsed number may have another spelling. */
const digest = (time: string, body: Uint8Array, secret: Secret): Buffer =>
  hmacSha256(secret.key, time, '.', body);

export type SigningKey = { readonly id: string; readonly key: KeyObject };

/**
 * Parses an RSA key from PEM text, with real or escaped line ends, or from Base64 of the PEM. Undefined for
 * anything else.
 */
export function parseSigningKey(text: string): KeyObject | undefined {
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
const MAX_AGE_S = 86_400 - 300;

export const limitExpiry = (expires: number, now: number): number =>
  Math.floor(Math.min(expires, now + MAX_AGE_S));

/** `expires` and `now` are in seconds since 1970. */
type VideoToken = {
  readonly videoId: string;
  readonly expires: number;
  readonly now: number;
  readonly downloadable?: true;
};

export function createVideoToken(
  { id, key }: SigningKey,
  { videoId, expires, now, downloadable }: VideoToken,
): string {
  const claims = {
    sub: videoId,
    kid: id,
    exp: limitExpiry(expires, now),
    ...(downloadable && { downloadable }),
  };
  const signed = [{ alg: 'RS256', kid: id }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), key).toString('base64url')}`;
}
