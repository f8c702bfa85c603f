// Recognises another system by the key it sends (A4).
import { hash, timingSafeEqual } from 'node:crypto';
import type { Secret } from './secret.ts';

/** Hashed on both sides, so that neither length nor content shows in the time it takes. */
export function isServiceKey(given: string, keys: readonly Secret[]): boolean {
  const digest = digestOf(given);
  return keys.some((key) => timingSafeEqual(digest, digestOf(key.reveal())));
}

const digestOf = (text: string): Buffer => hash('sha256', text, 'buffer');
