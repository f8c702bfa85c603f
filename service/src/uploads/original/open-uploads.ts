// Records open uploads: each asset has a limited number of them.
import type { Asset } from '../../assets/asset.ts';
import type { Transaction } from '../../platform/postgres/database.ts';
import type { UploadsContext } from '../context.ts';
import { toClosedError } from './upload-errors.ts';
import { lockPendingAsset } from './uploads.sql.ts';

/**
 * `insert` returns undefined if the asset has as many uploads as it may; the lock makes their number exact.
 * Throws NOT_FOUND and CONFLICT.
 */
export async function insertOpenUpload<Row>(
  { db, lifecycle }: UploadsContext,
  asset: Asset,
  insert: (tx: Transaction) => Promise<Row | undefined>,
): Promise<Row> {
  const row = await db.transaction(async (tx) =>
    (await lockPendingAsset(tx, asset)) ? await insert(tx) : undefined,
  );
  if (!row) throw toClosedError(await lifecycle.findAssetById(asset.id));
  return row;
}
