// Proves that a webhook came from cdnhost: HMAC-SHA256 of the raw body under the library's read-only key (A5, B6).
import type { Secret } from '../../auth/secret.ts';
import { equalHex, type HeaderValues, hmacSha256 } from '../../auth/signature.ts';

/** Our neutral name, and the one that the compatible product sends. */
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

/** Every value has to be right: a good one never rescues a bad one. */
const verifies = (given: readonly string[], expected: Buffer): boolean =>
  given.every((value) => equalHex(value, expected));

/** The value of the signature header. */
export const signCdnhost = (body: Uint8Array, secret: Secret): string =>
  hmacSha256(secret.key, body).toString('hex');
