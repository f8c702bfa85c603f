// Finds assets that belong to another one: those with the same stored bytes, and its replacement.
import type { Asset } from '../assets/asset.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { columns, sql } from '../platform/postgres/sql.ts';
import { assetRow } from '../tables.ts';

const ASSET = columns(assetRow);

/**
 * The earliest other asset of the owner with these bytes. Rejected bytes are not stored. With `=` and `order
 * by id`, PostgreSQL walks all assets by their id once a digest is frequent. This expression and order have
 * an index of their own (assets_by_bytes). Different texts may have one hash, so the text is compared too.
 */
export const findSameBytes = (
  db: Queries,
  { id, owner_user_id: owner }: Pick<Asset, 'id' | 'owner_user_id'>,
  sha256: string,
) => {
  const bytes = `${owner} ${sha256}`;
  return db.one(sql('find same bytes', { id: 'uuid' })`
    select id from assets
     where hashtextextended(owner_user_id || ' ' || checksum_sha256, 0)
           between hashtextextended(${bytes}, 0) and hashtextextended(${bytes}, 0)
       and owner_user_id || ' ' || checksum_sha256 = ${bytes}
       and uploaded_at is not null and deleted_at is null and id <> ${id}
     order by hashtextextended(owner_user_id || ' ' || checksum_sha256, 0), id limit 1`);
};

/** The highest attempt of all replacements that an asset had, also deleted ones; 0 without any. */
export const findReplacementAttempt = async (db: Queries, assetId: string): Promise<number> => {
  const found = await db.one(sql('replacement attempt', { attempt: 'int4' })`
    select coalesce(max(attempt), 0) as attempt from assets where version_of = ${assetId}`);
  return found?.attempt ?? 0;
};

/** The replacement of an asset that is not deleted. */
export const findReplacement = async (db: Queries, assetId: string): Promise<Asset | undefined> =>
  (await db.one(sql('find replacement', assetRow)`
    select ${ASSET} from assets where version_of = ${assetId} and deleted_at is null`)) as unknown as
    | Asset
    | undefined;
