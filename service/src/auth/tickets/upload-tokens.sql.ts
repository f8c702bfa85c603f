// SQL queries for upload tokens and the assets that they created.
import { deleteInBatches } from '../../platform/postgres/delete-in-batches.ts';
import type { Queries } from '../../platform/postgres/database.ts';
import { sql } from '../../platform/postgres/sql.ts';
import type { UploadGrant } from './upload-token.ts';

type NewToken = {
  readonly grant: Pick<UploadGrant, 'id' | 'ownerUserId' | 'maxUploads'>;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

export const insertUploadToken = (db: Queries, { grant, createdAt, expiresAt }: NewToken) =>
  db.one(sql('insert upload token')`
    insert into upload_tokens (id, owner_user_id, max_uploads, created_at, expires_at)
    values (${grant.id}, ${grant.ownerUserId}, ${grant.maxUploads}, ${createdAt}, ${expiresAt})`);

/** False when the token has created all uploads that it may create. The row stays locked until the commit. */
export async function recordTokenUpload(tx: Queries, tokenId: string, assetId: string): Promise<boolean> {
  const recorded = await tx.one(sql('record upload of token', { token_id: 'uuid' })`
    with used as (
      update upload_tokens set uploads = uploads + 1
       where id = ${tokenId} and uploads < max_uploads
      returning id)
    insert into upload_token_assets (asset_id, token_id)
    select ${assetId}::uuid, id from used
    returning token_id`);
  return recorded !== undefined;
}

export const findTokenOfAsset = async (db: Queries, assetId: string): Promise<string | undefined> =>
  (
    await db.one(sql('token of asset', { token_id: 'uuid' })`
      select token_id from upload_token_assets where asset_id = ${assetId}`)
  )?.token_id;

/** A day after their end, with the list of their assets. Returns how many were deleted. */
export const deleteExpiredTokens = (db: Queries): Promise<number> =>
  deleteInBatches(async (limit) => {
    const deleted = await db.one(sql('delete expired upload tokens', { count: 'int8' })`
      with deleted as (
        delete from upload_tokens
         where id = any(array(
           select id from upload_tokens
            where expires_at <= now() - interval '1 day' order by expires_at limit ${limit}))
        returning 1)
      select count(*) from deleted`);
    return deleted?.count ?? 0;
  });
