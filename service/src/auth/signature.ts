// What the webhook signatures have in common: digests of raw bytes, and how a received one is compared (A5, B6).
import { createHash, createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Secret } from './secret.ts';

/** Every value of one header, by its lower-case name; none → empty. */
export type HeaderValues = (name: string) => readonly string[];

const LOWER_HEX = /^[0-9a-f]*$/;
const ANY_HEX = /^[0-9a-fA-F]*$/;

export function hmacSha256(key: KeyObject, ...parts: readonly (string | Uint8Array)[]): Buffer {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(part);
  return mac.digest();
}

export const sha256Concat = (body: Uint8Array, secret: Secret): Buffer =>
  createHash('sha256').update(body).update(secret.reveal()).digest();

/** The shape first, since a constant-time compare takes equal lengths only; then the bytes. */
export function equalHex(given: string, expected: Buffer, { lowerOnly }: { lowerOnly: boolean }): boolean {
  const hex = lowerOnly ? LOWER_HEX : ANY_HEX;
  return (
    given.length === 2 * expected.length &&
    hex.test(given) &&
    timingSafeEqual(Buffer.from(given, 'hex'), expected)
  );
}
