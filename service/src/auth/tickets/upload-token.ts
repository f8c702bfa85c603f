// Upload tokens: bearer tokens for browsers that may only upload, within signed bounds (contract B11).
import type { AssetKind, Visibility } from '@mediary/contract/enums';
import type { Secret } from '../secret.ts';
import { signExpiring, type VerifiedContent, verifyExpiring } from '../signed-token.ts';

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
export const issueUploadToken = (secrets: readonly Secret[], grant: UploadGrant, expires: number): string =>
  `${PREFIX}${signExpiring(secrets, 'upload-token', { content: grant, expires })}`;

export const verifyUploadToken = (
  secrets: readonly Secret[],
  token: string,
  nowSeconds: number,
): VerifiedContent<UploadGrant> =>
  verifyExpiring(secrets, 'upload-token', { text: token.slice(PREFIX.length), nowSeconds });
