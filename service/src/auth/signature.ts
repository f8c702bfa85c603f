// Digests for signatures, their constant-time comparison, and canonical base64url (contract A5, B6).
import { createHash, createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Secret } from './secret.ts';

/** Returns all values of a header by its lower-case name. */
export type HeaderValues = (name: string) => readonly string[];

const HEX = /^[0-9a-fA-F]*$/;

export function hmacSha256(key: KeyObject, ...parts: readonly (string | Uint8Array)[]): Buffer {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(part);
  return mac.digest();
}

export const sha256Concat = (body: Uint8Array, secret: Secret): Buffer =>
  createHash('sha256').update(body).update(secret.reveal()).digest();

/**
 * Accepts hex digits in either case. Checks the length first, because the constant-time comparison requires
 * equal lengths.
 */
export const equalHex = (given: string, expected: Buffer): boolean =>
  given.length === 2 * expected.length &&
  HEX.test(given) &&
  timingSafeEqual(Buffer.from(given, 'hex'), expected);

/** In constant time for equal lengths. */
export const equalBytes = (given: Uint8Array, expected: Uint8Array): boolean =>
  given.length === expected.length && timingSafeEqual(given, expected);

export const toBase64url = (bytes: Buffer): string => bytes.toString('base64url');

/**
 * Canonical base64url (RFC 4648 §5): each byte string has one valid encoding. Undefined for padding, other
 * alphabets, white space, invalid lengths and non-zero unused bits.
 */
export function fromBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return toBase64url(bytes) === text ? bytes : undefined;
}
