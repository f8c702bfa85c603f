// Short scheduled jobs: fail expired uploads, create and drop partitions (contract B4, B6).
import type { findAssetById } from '../assets/asset-lookup.ts';
import type { refuseAsset } from '../lifecycle/reports.ts';
import type { Bound } from '../platform/bind.ts';
import type { DatabaseNow } from '../platform/postgres/database-clock.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { UPLOAD_EXPIRED } from './failures.ts';
import { TRANSFER_MS } from './orphan.ts';
import { createMonthPartitions, dropDeliveriesBefore, findExpiredUploads } from './upkeep.sql.ts';

type CleanupNeeds = {
  readonly db: Database;
  readonly store: Pick<ObjectStore, 'direct'>;
  readonly databaseNow: DatabaseNow;
  readonly findAssetById: Bound<typeof findAssetById>;
  readonly refuseAsset: Bound<typeof refuseAsset>;
  readonly webhookRetentionDays: number;
};

const BATCH = 200;

/** Returns the number of expired uploads. */
export async function expireUploads(needs: CleanupNeeds): Promise<number> {
  const now = await needs.databaseNow();
  const before = new Date(now.getTime() - (needs.store.direct ? TRANSFER_MS : 0));
  let expired = 0;
  for (;;) {
    const ids = await findExpiredUploads(needs.db, before, BATCH);
    for (const id of ids) {
      const asset = await needs.findAssetById(id);
      if (asset && !asset.deleted_at) await needs.refuseAsset(asset, UPLOAD_EXPIRED);
    }
    expired += ids.length;
    if (ids.length < BATCH) return expired;
  }
}

/** Enough for jobs that do not run for months. Rows without a partition slow the default one down. */
const MONTHS_AHEAD = 3;
const DAY_MS = 86_400_000;

/** Returns the number of created partitions. */
export const createPartitions = ({ db }: Pick<CleanupNeeds, 'db'>): Promise<number> =>
  createMonthPartitions(db, MONTHS_AHEAD);

/** Drops whole months, so deliveries stay up to a month longer. Returns the number of dropped partitions. */
export async function dropDeliveries({
  db,
  databaseNow,
  webhookRetentionDays,
}: Pick<CleanupNeeds, 'db' | 'databaseNow' | 'webhookRetentionDays'>): Promise<number> {
  const now = await databaseNow();
  return dropDeliveriesBefore(db, new Date(now.getTime() - webhookRetentionDays * DAY_MS));
}
