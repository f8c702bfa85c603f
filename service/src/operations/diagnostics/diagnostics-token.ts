// Short-lived tokens with which the service calls its own diagnostics, and proofs that it answered itself.
import { hash } from 'node:crypto';
import type { Secret } from '../../auth/secret.ts';
import { deriveKey, signToken, verifyToken } from '../../auth/signed-token.ts';

/** `expires` is in seconds since 1970. */
type DiagnosticsToken = { readonly nonce: string; readonly expires: number };

export const issueDiagnosticsToken = (
  secrets: readonly Secret[],
  { nonce, expires }: DiagnosticsToken,
): string => signToken(currentKey(secrets), `token:${expires}:${nonce}`);

/** Returns the token also after its expiry; undefined when no secret signed it. */
export function parseDiagnosticsToken(
  secrets: readonly Secret[],
  text: string,
): DiagnosticsToken | undefined {
  const [kind, expires, nonce] = verifyToken(keysOf(secrets), text)?.split(':') ?? [];
  return kind === 'token' && nonce !== undefined ? { nonce, expires: Number(expires) } : undefined;
}

/** Only a process with the same URL signing secret can compute it. */
export const signProof = (secrets: readonly Secret[], nonce: string): string =>
  signToken(currentKey(secrets), `proof:${nonce}`);

export const isProofOf = (secrets: readonly Secret[], nonce: string, proof: string): boolean =>
  verifyToken(keysOf(secrets), proof) === `proof:${nonce}`;

/** A public name of the deployment, from which the secret cannot be computed. */
export const deploymentOf = (secrets: readonly Secret[]): string =>
  hash('sha256', `deployment:${currentKey(secrets).reveal()}`).slice(0, 12);

const keysOf = (secrets: readonly Secret[]): Secret[] =>
  secrets.map((root) => deriveKey(root, 'diagnostics'));

function currentKey(secrets: readonly Secret[]): Secret {
  const [key] = keysOf(secrets);
  if (!key) throw new Error('no URL signing secret');
  return key;
}
