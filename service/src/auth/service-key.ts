// Verifies service keys (contract A4).
import { hash, timingSafeEqual } from 'node:crypto';
import type { Secret } from './secret.ts';

/** Compares SHA-256 digests in constant time, so that timing reveals neither length nor content. */
export function isServiceKey(given: string, keys: readonly Secret[]): boolean {
  const digest = digestOf(given);
  return keys.some((key) => timingSafeEqual(digest, digestOf(key.reveal())));
}

const digestOf = (text: string): Buffer => hash('sha256', text, 'buffer');
