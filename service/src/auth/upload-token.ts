// Upload tokens: bearer tokens for browsers that may only upload, within signed bounds (contract B11).
import type { AssetKind, Visibility } from '@mediary/contract/enums';
import type { Secret } from './secret.ts';
import { deriveKey, signToken, verifyToken } from './signed-token.ts';

/** Members that are null do not limit uploads. */
export type UploadGrant = {
  readonly id: string;
  readonly ownerUserId: string;
  readonly kinds: readonly AssetKind[] | null;
  readonly mimeTypes: readonly string[] | null;
  readonly maxBytes: number | null;
  readonly maxUploads: number;
  /** The visibility of every upload. */
  readonly visibility: Visibility;
  /** Added to the tags of every upload. */
  readonly tags: readonly string[];
};

const PREFIX = 'mut_';

export const isUploadToken = (token: string): boolean => token.startsWith(PREFIX);

/** `expires`: in seconds since 1970. The payload is signed, not encrypted. */
export function issueUploadToken(secrets: readonly Secret[], grant: UploadGrant, expires: number): string {
  const [root] = secrets;
  if (!root) throw new Error('no URL signing secret');
  return `${PREFIX}${signToken(deriveKey(root, 'upload-token'), `${expires}:${JSON.stringify(grant)}`)}`;
}

type VerifiedUploadToken = { readonly grant: UploadGrant } | { readonly fault: 'bad_signature' | 'expired' };

export function verifyUploadToken(
  secrets: readonly Secret[],
  token: string,
  nowSeconds: number,
): VerifiedUploadToken {
  const keys = secrets.map((root) => deriveKey(root, 'upload-token'));
  const payload = verifyToken(keys, token.slice(PREFIX.length));
  if (payload === undefined) return { fault: 'bad_signature' };
  if (Number.parseInt(payload, 10) <= nowSeconds) return { fault: 'expired' };
  return { grant: JSON.parse(payload.slice(payload.indexOf(':') + 1)) as UploadGrant };
}
