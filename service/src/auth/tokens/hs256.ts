// Signs and verifies compact JWS with HS256 only; the MAC is verified before anything is parsed.
import { createHmac, type KeyObject } from 'node:crypto';
import { equalBytes, fromBase64url, toBase64url } from '../signature.ts';
import { getOwn, parseJsonObject } from '../../platform/values/strict-json.ts';

const MAX_TOKEN_LENGTH = 12_288;
const HEADER = toBase64url(Buffer.from('{"alg":"HS256","typ":"JWT"}'));
const COMMON_HEADERS = [
  HEADER,
  toBase64url(Buffer.from('{"alg":"HS256"}')),
  toBase64url(Buffer.from('{"typ":"JWT","alg":"HS256"}')),
];

const THREE_PARTS = /^[\w-]*\.[\w-]*\.[\w-]*$/;

/** Header members that change the processing of the token or contain a key. */
const REJECTED_MEMBERS = ['crit', 'b64', 'zip', 'jku', 'jwk', 'x5u', 'x5c'];

export function signHs256(payload: string, key: KeyObject): string {
  const signed = `${HEADER}.${toBase64url(Buffer.from(payload))}`;
  return `${signed}.${macOf(signed, key)}`;
}

/** `bad_signature` includes other algorithms, because the header is read only after the MAC is verified. */
type Hs256Fault = 'malformed' | 'bad_signature';

/** Returns the bytes of the payload, or why the token is invalid. */
export function verifyHs256(token: string, keys: readonly KeyObject[]): Buffer | Hs256Fault {
  if (token.length > MAX_TOKEN_LENGTH) return 'malformed';
  const lastDot = token.lastIndexOf('.');
  const signed = token.slice(0, lastDot);
  const mac = token.slice(lastDot + 1);
  if (!keys.some((key) => equalText(mac, macOf(signed, key))))
    return THREE_PARTS.test(token) ? 'bad_signature' : 'malformed';
  const [header = '', payload, ...more] = signed.split('.');
  const isValid = payload !== undefined && more.length === 0 && isPlainHs256(header);
  return (isValid && fromBase64url(payload)) || 'malformed';
}

const macOf = (signed: string, key: KeyObject): string =>
  createHmac('sha256', key).update(signed).digest('base64url');

/** Compares the encoded texts, so that only the canonical encoding of the MAC is accepted. */
const equalText = (given: string, expected: string): boolean =>
  equalBytes(Buffer.from(given), Buffer.from(expected));

function isPlainHs256(part: string): boolean {
  if (COMMON_HEADERS.includes(part)) return true;
  const bytes = fromBase64url(part);
  const header = bytes && parseJsonObject(bytes);
  return (
    header !== undefined &&
    getOwn(header, 'alg') === 'HS256' &&
    !REJECTED_MEMBERS.some((name) => Object.hasOwn(header, name))
  );
}
