// Verifies onprem webhooks: SHA-256 of the raw body with the secret appended (contract A5, B6).
import type { Secret } from '../../auth/secret.ts';
import { equalHex, hmacSha256, type HeaderValues, sha256Concat } from '../../auth/signature.ts';

const HEADERS = ['x-onprem-signature', 'x-webhook-signature'];
/**
 * Used only when neither named header is present, because other software uses this name for other purposes.
 */
const FALLBACK_HEADER = 'x-signature';

export function checkOnpremSignature(
  headers: HeaderValues,
  body: Uint8Array,
  secrets: readonly Secret[],
): boolean {
  const named = HEADERS.flatMap((name) => headers(name));
  const signatures = named.length > 0 ? named : headers(FALLBACK_HEADER);
  return signatures.length > 0 && secrets.some((secret) => areValid(signatures, sha256Concat(body, secret)));
}

/** Every header value must be valid; one valid value does not make up for an invalid one. */
const areValid = (signatures: readonly string[], expected: Buffer): boolean =>
  signatures.every((value) => equalHex(value, expected));

/** Formats the value of the signature header. */
export const signOnprem = (body: Uint8Array, secret: Secret): string =>
  sha256Concat(body, secret).toString('hex');

type SignedRequest = { readonly id: string; readonly at: Date; readonly body: Uint8Array };

/**
 * The headers of a request to the operator's encoder: the form of the webhook, and that of Standard Webhooks,
 * whose time protects from replays.
 */
export function signEncoderRequest({ id, at, body }: SignedRequest, secret: Secret): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  return {
    'x-onprem-signature': signOnprem(body, secret),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${hmacSha256(secret.key, `${id}.${timestamp}.`, body).toString('base64')}`,
  };
}
