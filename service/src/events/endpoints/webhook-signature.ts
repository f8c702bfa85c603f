// Secrets and signatures of outbound webhooks, in the form of Standard Webhooks (contract B8).
import { createSecretKey, randomBytes } from 'node:crypto';
import { type Secret, toSecret } from '../../auth/secret.ts';
import { hmacSha256 } from '../../auth/signature.ts';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export const createWebhookSecret = (): Secret =>
  toSecret(PREFIX + randomBytes(SECRET_BYTES).toString('base64'));

type SignedContent = { readonly id: string; readonly at: Date; readonly body: string };

/** One signature for each secret, so that receivers can verify with either during a rotation. */
export function signWebhook(
  { id, at, body }: SignedContent,
  secrets: readonly Secret[],
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signatures = secrets.map(
    (secret) => `v1,${hmacSha256(keyOf(secret), `${id}.${timestamp}.${body}`).toString('base64')}`,
  );
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}

const keyOf = (secret: Secret) => createSecretKey(secret.reveal().slice(PREFIX.length), 'base64');
