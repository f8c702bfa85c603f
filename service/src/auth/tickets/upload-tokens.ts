// Creates upload tokens, counts their uploads, and decides which assets their holders may read.
import { forbidden } from '../../platform/http/errors.ts';
import { isPlainText, notPlainText } from '../../platform/values/plain-text.ts';
import type { Transaction } from '../../platform/postgres/database.ts';
import { uuidV7 } from '../../platform/values/uuid-v7.ts';
import type { Caller } from '../caller.ts';
import type { AuthContext } from '../context.ts';
import { issueUploadToken, type UploadGrant } from './upload-token.ts';
import {
  deleteExpiredTokens,
  findTokenOfAsset,
  insertUploadToken,
  recordTokenUpload,
} from './upload-tokens.sql.ts';

export type CreatedUploadToken = {
  readonly grant: UploadGrant;
  readonly token: string;
  readonly expiresAt: Date;
};

/** Throws FORBIDDEN for users, and BAD_REQUEST for text with control characters. */
export async function createUploadToken(
  { db, urlSecrets, now }: AuthContext,
  caller: Caller,
  { expiresIn, ...bounds }: Omit<UploadGrant, 'id'> & { readonly expiresIn: number },
): Promise<CreatedUploadToken> {
  if (caller.kind !== 'service')
    throw forbidden('Upload tokens need the service key: "X-Service-Key: <key>"');
  if (!bounds.tags.every(isPlainText)) throw notPlainText('tags');
  const grant = { id: uuidV7(), ...bounds };
  const createdAt = now();
  const expires = Math.floor(createdAt.getTime() / 1000) + expiresIn;
  const expiresAt = new Date(expires * 1000);
  await insertUploadToken(db, { grant, createdAt, expiresAt });
  return { grant, token: issueUploadToken(urlSecrets, grant, expires), expiresAt };
}

/** In the transaction that creates the asset. Throws FORBIDDEN when the token has no upload left. */
export async function recordUploadOfToken(
  tx: Transaction,
  { id, maxUploads }: UploadGrant,
  assetId: string,
): Promise<void> {
  if (await recordTokenUpload(tx, id, assetId)) return;
  throw forbidden(`The upload token has created all its uploads (${maxUploads}). Request another token.`, {
    reason: 'upload_token_used_up',
    limit: maxUploads,
  });
}

/** Returns how many tokens were deleted. */
export const deleteOldUploadTokens = ({ db }: AuthContext): Promise<number> => deleteExpiredTokens(db);

/** How long a page may still read an upload that has become ready. */
const READABLE_AFTER_READY_MS = 10 * 60_000;

type ReadAsset = { readonly id: string; readonly ready_at: Date | null };

/** Throws FORBIDDEN for the holder of an upload token that did not create the asset. */
export async function assertReadableByToken(
  { db, now }: AuthContext,
  caller: Caller,
  asset: ReadAsset,
): Promise<void> {
  if (caller.kind !== 'user' || !caller.upload) return;
  if ((await findTokenOfAsset(db, asset.id)) !== caller.upload.id)
    throw forbidden('This upload token did not create the asset', { reason: 'upload_token_bounds' });
  const readyAt = asset.ready_at?.getTime() ?? Number.POSITIVE_INFINITY;
  if (now().getTime() > readyAt + READABLE_AFTER_READY_MS)
    throw forbidden('The asset has been ready for 10 minutes: upload tokens cannot read it any more', {
      reason: 'upload_token_bounds',
    });
}
