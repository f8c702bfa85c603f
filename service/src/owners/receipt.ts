// The receipt of an erasure: what was removed, line by line, and a statement signed with Ed25519.
import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from 'node:crypto';
import type { Secret } from '../auth/secret.ts';
import { deriveKey } from '../auth/signed-token.ts';
import { toBase64url } from '../auth/signature.ts';

/** PKCS #8 around the 32 bytes of an Ed25519 private key. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Derived from URL_SIGNING_SECRET, so the public key changes with that secret. */
function signingKeyOf(root: Secret): KeyObject {
  const derived = deriveKey(root, 'receipt').key;
  const seed = Buffer.from(hkdfSync('sha256', derived, '', 'ed25519', 32));
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
}

/** SPKI in base64, as in a PEM file. */
export const publicKeyOf = (root: Secret): string =>
  createPublicKey(signingKeyOf(root)).export({ format: 'der', type: 'spki' }).toString('base64');

type SignedStatement = Readonly<Record<'statement' | 'signature' | 'public_key', string>>;

/** The signature is of the UTF-8 bytes of the text, so that verifiers need no canonical JSON. */
export function signStatement(root: Secret, facts: object): SignedStatement {
  const statement = JSON.stringify(facts);
  return {
    statement,
    signature: toBase64url(sign(null, Buffer.from(statement), signingKeyOf(root))),
    public_key: publicKeyOf(root),
  };
}

/** How many things of a kind were removed for an asset. */
export type RemovedRows = { readonly asset_id: string; readonly kind: string; readonly count: number };

type RemovedItem = {
  readonly asset_id: string | null;
  readonly provider: string | null;
  readonly provider_video_id: string | null;
  readonly video_removed_at: Date | null;
  /** Kind of thing → number. */
  readonly removed: Readonly<Record<string, number>>;
  readonly confirmed_at: Date | null;
};

/** One line for each kind of thing, in the order of kinds, each with its line feed. */
export function toReceiptLines(item: RemovedItem): string {
  const { asset_id, provider, provider_video_id, video_removed_at, removed } = item;
  const confirmed_at = item.confirmed_at?.toISOString() ?? null;
  const kinds = Object.entries(removed).sort(([a], [b]) => (a < b ? -1 : 1));
  const lines: object[] = kinds.map(([kind, count]) => ({ asset_id, kind, count, confirmed_at }));
  if (provider_video_id !== null)
    lines.push({
      asset_id,
      kind: video_removed_at ? 'provider_video' : 'provider_video_left',
      count: 1,
      confirmed_at: video_removed_at?.toISOString() ?? null,
      provider,
      provider_video_id,
    });
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}
