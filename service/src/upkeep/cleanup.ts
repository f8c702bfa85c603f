// Short scheduled jobs: fail expired uploads, create and drop partitions (contract B4, B6).
import type { UpkeepContext } from './context.ts';
import { UPLOAD_EXPIRED } from './failures.ts';
import { TRANSFER_MS } from './orphan.ts';
import { createMonthPartitions, dropMonthsBefore, findExpiredUploads } from './upkeep.sql.ts';

const BATCH = 200;

/** Returns the number of expired uploads. */
export async function expireUploads(ctx: UpkeepContext): Promise<number> {
  const now = await ctx.clocks.databaseNow();
  const before = new Date(now.getTime() - (ctx.store.direct ? TRANSFER_MS : 0));
  let expired = 0;
  for (;;) {
    const ids = await findExpiredUploads(ctx.db, before, BATCH);
    for (const id of ids) {
      const asset = await ctx.lifecycle.findAssetById(id);
      if (asset && !asset.deleted_at)
        await ctx.lifecycle.expireUpload(asset, { before, failure: UPLOAD_EXPIRED });
    }
    expired += ids.length;
    if (ids.length < BATCH) return expired;
  }
}

/** Enough for jobs that do not run for months. Rows without a partition slow the default one down. */
const MONTHS_AHEAD = 3;
const DAY_MS = 86_400_000;

/** Returns the number of created partitions. */
export const createPartitions = ({ db }: Pick<UpkeepContext, 'db'>): Promise<number> =>
  createMonthPartitions(db, MONTHS_AHEAD);

/** Drops whole months, so rows stay up to a month longer. Returns the number of dropped partitions. */
export async function dropExpiredMonths({
  db,
  clocks,
  settings: { webhookRetentionDays, eventRetentionDays },
}: Pick<UpkeepContext, 'db' | 'clocks' | 'settings'>): Promise<number> {
  const now = (await clocks.databaseNow()).getTime();
  const before = (days: number) => new Date(now - days * DAY_MS);
  const deliveries = await dropMonthsBefore(db, 'deliveries', before(webhookRetentionDays));
  if (eventRetentionDays === 0) return deliveries;
  return deliveries + (await dropMonthsBefore(db, 'events', before(eventRetentionDays)));
}
