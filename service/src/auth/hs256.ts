// Compact JWS with HS256 and nothing else: the MAC comes first, and nothing that it does not cover is ever parsed.
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { fromBase64url, toBase64url } from './base64url.ts';
import { getOwn, parseJsonObject } from './json-object.ts';

const LONGEST = 12_288;
const HEADER = toBase64url(Buffer.from('{"alg":"HS256","typ":"JWT"}'));
const USUAL_HEADERS = [
  HEADER,
  toBase64url(Buffer.from('{"alg":"HS256"}')),
  toBase64url(Buffer.from('{"typ":"JWT","alg":"HS256"}')),
];

const THREE_PARTS = /^[\w-]*\.[\w-]*\.[\w-]*$/;

/** Header members that ask to read the token in another way, or that bring a key of their own. */
const REFUSED = ['crit', 'b64', 'zip', 'jku', 'jwk', 'x5u', 'x5c'];

export function signHs256(payload: string, key: KeyObject): string {
  const signed = `${HEADER}.${toBase64url(Buffer.from(payload))}`;
  return `${signed}.${macOf(signed, key)}`;
}

/** Why a token does not open. `bad_signature` also stands for another algorithm: no header is read before the MAC fits. */
export type Hs256Fault = 'malformed' | 'bad_signature';

/** The payload's bytes, or why there are none. */
export function verifyHs256(token: string, keys: readonly KeyObject[]): Buffer | Hs256Fault {
  if (token.length > LONGEST) return 'malformed';
  const lastDot = token.lastIndexOf('.');
  const signed = token.slice(0, lastDot);
  const mac = token.slice(lastDot + 1);
  if (!keys.some((key) => sameText(mac, macOf(signed, key))))
    return THREE_PARTS.test(token) ? 'bad_signature' : 'malformed';
  const [header = '', payload, ...more] = signed.split('.');
  const isReadable = payload !== undefined && more.length === 0 && isPlainHs256(header);
  return (isReadable && fromBase64url(payload)) || 'malformed';
}

const macOf = (signed: string, key: KeyObject): string =>
  createHmac('sha256', key).update(signed).digest('base64url');

/** The texts' bytes are compared, not what they decode to: only the canonical spelling of the MAC is equal. */
function sameText(given: string, expected: string): boolean {
  const bytes = Buffer.from(given);
  return bytes.length === expected.length && timingSafeEqual(bytes, Buffer.from(expected));
}

function isPlainHs256(part: string): boolean {
  if (USUAL_HEADERS.includes(part)) return true;
  const bytes = fromBase64url(part);
  const header = bytes && parseJsonObject(bytes);
  return (
    header !== undefined &&
    getOwn(header, 'alg') === 'HS256' &&
    !REFUSED.some((name) => Object.hasOwn(header, name))
  );
}
