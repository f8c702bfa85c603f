// Verifies onprem webhooks: SHA-256 of the raw body with the secret appended (contract A5, B6).
import type { Secret } from '../../auth/secret.ts';
import { equalHex, type HeaderValues, sha256Concat } from '../../auth/signature.ts';

const NAMED = ['x-onprem-signature', 'x-webhook-signature'];
/** Used only when neither named header is present, because other software uses this name for other purposes. */
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

/** Every header value must be valid; one valid value does not make up for an invalid one. */
const verifies = (given: readonly string[], expected: Buffer): boolean =>
  given.every((value) => equalHex(value, expected));

/** Formats the value of the signature header. */
export const signOnprem = (body: Uint8Array, secret: Secret): string =>
  sha256Concat(body, secret).toString('hex');
