// Ends uploads that were opened and never completed within UPLOAD_TTL_S: failed, with a reason, and nothing left of their bytes.
import type { Asset, Failure } from '../assets/asset.ts';
import type { Database } from '../platform/postgres/database.ts';
import { expiredUploads } from './expiry.sql.ts';
import { UPLOAD_EXPIRED } from './upload-expired.ts';

export type ExpiryNeeds = {
  readonly db: Database;
  readonly now: () => Date;
  readonly findAssetById: (id: string) => Promise<Asset | undefined>;
  readonly refuseAsset: (asset: Asset, failure: Failure) => Promise<Asset>;
};

const BATCH = 200;

/** Answers how many there were. */
export async function expireUploads({
  db,
  now,
  findAssetById: byId,
  refuseAsset: refuse,
}: ExpiryNeeds): Promise<number> {
  let expired = 0;
  for (;;) {
    const ids = await expiredUploads(db, now(), BATCH);
    for (const id of ids) {
      const asset = await byId(id);
      if (asset && !asset.deleted_at) await refuse(asset, UPLOAD_EXPIRED);
    }
    expired += ids.length;
    if (ids.length < BATCH) return expired;
  }
}
