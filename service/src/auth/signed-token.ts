// Tickets that only this service can write: upload, download and playback tokens, and cursors (B9).
import { hkdfSync, timingSafeEqual } from 'node:crypto';
import { fromBase64url, toBase64url } from './base64url.ts';
import { toSecret, type Secret } from './secret.ts';
import { hmacSha256 } from './signature.ts';

/** What a key is for. A ticket made for one purpose never opens as another. */
export type Purpose = 'upload' | 'download' | 'playback' | 'cursor' | 'encoder';

const MAC_BYTES = 16;
const derived = new WeakMap<Secret, Map<Purpose, Secret>>();

export function deriveKey(root: Secret, purpose: Purpose): Secret {
  const known = derived.get(root) ?? new Map<Purpose, Secret>();
  const key = known.get(purpose) ?? derive(root, purpose);
  derived.set(root, known.set(purpose, key));
  return key;
}

const derive = (root: Secret, purpose: Purpose): Secret =>
  toSecret(toBase64url(Buffer.from(hkdfSync('sha256', root.key, '', `mediary ${purpose}`, 32))));

/** Text of `A-Za-z0-9_-` alone, for a path segment or a query. The payload is signed, not hidden. */
export function signToken(key: Secret, payload: string): string {
  const bytes = Buffer.from(payload);
  return toBase64url(Buffer.concat([macOf(key, bytes), bytes]));
}

/** The payload, or undefined for a text that none of the keys signed. */
export function verifyToken(keys: readonly Secret[], text: string): string | undefined {
  const bytes = fromBase64url(text);
  if (!bytes || bytes.length < MAC_BYTES) return undefined;
  const mac = bytes.subarray(0, MAC_BYTES);
  const payload = bytes.subarray(MAC_BYTES);
  return keys.some((key) => timingSafeEqual(mac, macOf(key, payload))) ? payload.toString() : undefined;
}

const macOf = (key: Secret, payload: Uint8Array): Buffer =>
  hmacSha256(key.key, payload).subarray(0, MAC_BYTES);
