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
  | 'webhook-secret';

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

const macOf = (key: Secret, payload: Uint8Array): Buffer =>
  hmacSha256(key.key, payload).subarray(0, MAC_BYTES);
