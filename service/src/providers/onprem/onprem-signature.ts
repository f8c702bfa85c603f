// Proves that a webhook came from an on-prem encoder: SHA-256 of the raw body with the secret appended (A5, B6).
import type { Secret } from '../../auth/secret.ts';
import { equalHex, type HeaderValues, sha256Concat } from '../../auth/signature.ts';

const NAMED = ['x-onprem-signature', 'x-webhook-signature'];
/** Read only where neither named header is there: other software uses this name for other things. */
const FALLBACK = 'x-signature';

export function checkOnpremSignature(
  headers: HeaderValues,
  body: Uint8Array,
  secrets: readonly Secret[],
): boolean {
  const named = NAMED.flatMap((name) => headers(name));
  const given = named.length > 0 ? named : headers(FALLBACK);
  return given.length > 0 && secrets.some((secret) => verifies(given, sha256Concat(body, secret)));
}

/** Every value has to be right: a good one never rescues a bad one. */
const verifies = (given: readonly string[], expected: Buffer): boolean =>
  given.every((value) => equalHex(value, expected));

/** The value of the signature header. */
export const signOnprem = (body: Uint8Array, secret: Secret): string =>
  sha256Concat(body, secret).toString('hex');
