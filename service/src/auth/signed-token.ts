// HMAC-signed tokens of this service: upload, download and playback tokens, and cursors (contract B9).
import { hkdfSync, timingSafeEqual } from 'node:crypto';
import { fromBase64url, toBase64url, hmacSha256 } from './signature.ts';
import { toSecret, type Secret } from './secret.ts';

/** The purpose of a derived key. A token of one purpose is invalid for any other. */
export type Purpose =
  | 'upload'
  | 'upload-token'
  | 'events'
  | 'relay'
  | 'download'
  | 'playback'
  | 'segment'
  | 'cursor'
  | 'encoder'
  | 'diagnostics'
  | 'session'
  | 'webhook-secret'
  | 'receipt'
  | 'image';

const MAC_BYTES = 16;
/** Key derivation is pure but too slow for every request. */
const derivedKeys = new WeakMap<Secret, Map<Purpose, Secret>>();

export function deriveKey(root: Secret, purpose: Purpose): Secret {
  const keys = derivedKeys.get(root) ?? new Map<Purpose, Secret>();
  const key = keys.get(purpose) ?? derive(root, purpose);
  derivedKeys.set(root, keys.set(purpose, key));
  return key;
}

const derive = (root: Secret, purpose: Purpose): Secret =>
  toSecret(toBase64url(Buffer.from(hkdfSync('sha256', root.key, '', `mediary ${purpose}`, 32))));

/**
 * The token contains only `A-Za-z0-9_-`, so it fits into a path or a query. The payload is signed, not
 * encrypted.
 */
export function signToken(key: Secret, payload: string): string {
  const bytes = Buffer.from(payload);
  return toBase64url(Buffer.concat([macOf(key, bytes), bytes]));
}

/** Returns the payload; undefined when none of the keys signed the token. */
export function verifyToken(keys: readonly Secret[], text: string): string | undefined {
  const bytes = fromBase64url(text);
  if (!bytes || bytes.length < MAC_BYTES) return undefined;
  const mac = bytes.subarray(0, MAC_BYTES);
  const payload = bytes.subarray(MAC_BYTES);
  return keys.some((key) => timingSafeEqual(mac, macOf(key, payload))) ? payload.toString() : undefined;
}

type ExpiringToken = { readonly content: object; readonly expires: number };

/** Signs JSON by the first secret. `expires`: in seconds since 1970. */
export function signExpiring(
  secrets: readonly Secret[],
  purpose: Purpose,
  { content, expires }: ExpiringToken,
): string {
  const [root] = secrets;
  if (!root) throw new Error('no URL signing secret');
  return signToken(deriveKey(root, purpose), `${expires}:${JSON.stringify(content)}`);
}

type PresentedToken = { readonly text: string; readonly nowSeconds: number };
export type VerifiedContent<T> = { readonly content: T } | { readonly fault: 'bad_signature' | 'expired' };

/** The content of a token of `signExpiring`. */
export function verifyExpiring<T>(
  secrets: readonly Secret[],
  purpose: Purpose,
  { text, nowSeconds }: PresentedToken,
): VerifiedContent<T> {
  const keys = secrets.map((root) => deriveKey(root, purpose));
  const payload = verifyToken(keys, text);
  if (payload === undefined) return { fault: 'bad_signature' };
  if (Number.parseInt(payload, 10) <= nowSeconds) return { fault: 'expired' };
  return { content: JSON.parse(payload.slice(payload.indexOf(':') + 1)) as T };
}

const macOf = (key: Secret, payload: Uint8Array): Buffer =>
  hmacSha256(key.key, payload).subarray(0, MAC_BYTES);
