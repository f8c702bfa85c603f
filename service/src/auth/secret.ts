// Secrets travel inside this wrapper, so that no log line, JSON document or stack trace can print one by accident.
import { createSecretKey, type KeyObject } from 'node:crypto';

/** Rotation: whoever verifies takes `readonly Secret[]`, the current one first, then the previous. */
export type Secret = {
  /** The UTF-8 bytes of the text, prepared once: MACs with a ready key cost a third less. */
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
