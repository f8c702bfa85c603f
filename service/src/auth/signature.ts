// What the webhook signatures have in common: digests of raw bytes, and how a received one is compared (A5, B6).
import { createHash, createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Secret } from './secret.ts';

/** Every value of one header, by its lower-case name; none → empty. */
export type HeaderValues = (name: string) => readonly string[];

const HEX = /^[0-9a-fA-F]*$/;

export function hmacSha256(key: KeyObject, ...parts: readonly (string | Uint8Array)[]): Buffer {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(part);
  return mac.digest();
}

export const sha256Concat = (body: Uint8Array, secret: Secret): Buffer =>
  createHash('sha256').update(body).update(secret.reveal()).digest();

/** Hex digits in either case. The shape is checked first, because a constant-time comparison needs equal lengths. */
export const equalHex = (given: string, expected: Buffer): boolean =>
  given.length === 2 * expected.length &&
  HEX.test(given) &&
  timingSafeEqual(Buffer.from(given, 'hex'), expected);
