// Verifies cdnhost webhooks: HMAC-SHA256 of the raw body with the library's read-only key (contract A5, B6).
import type { Secret } from '../../auth/secret.ts';
import { equalHex, type HeaderValues, hmacSha256 } from '../../auth/signature.ts';

/** Our neutral header name, and the name that the compatible product sends. */
const FAMILIES = ['x-cdnhost-signature', 'x-bunnystream-signature'];

export function checkCdnhostSignature(
  headers: HeaderValues,
  body: Uint8Array,
  secrets: readonly Secret[],
): boolean {
  const all = (suffix: string) => FAMILIES.flatMap((family) => headers(family + suffix));
  const given = all('');
  return (
    given.length > 0 &&
    all('-version').every((version) => version === 'v1') &&
    all('-algorithm').every((algorithm) => algorithm === 'hmac-sha256') &&
    secrets.some((secret) => verifies(given, hmacSha256(secret.key, body)))
  );
}

/** Every header value must be valid; one valid value does not make up for an invalid one. */
const verifies = (given: readonly string[], expected: Buffer): boolean =>
  given.every((value) => equalHex(value, expected));

/** Formats the value of the signature header. */
export const signCdnhost = (body: Uint8Array, secret: Secret): string =>
  hmacSha256(secret.key, body).toString('hex');
