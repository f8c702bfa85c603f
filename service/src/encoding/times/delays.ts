// Announces encodes that are not ready when they were expected, with the reason.
import type { EncodingContext } from '../context.ts';
import {
  deleteEstimates,
  deleteOldEstimates,
  findOverdueEstimates,
  postponeEstimates,
} from './encode-estimates.sql.ts';
import type { TimesReader } from './expected-times.ts';
import { findDelayReason } from './queue-places.ts';
import type { QueueReading } from './queue-reading.ts';

/** Bounds one run; the next one, a minute later, goes on. */
const MAX_PER_RUN = 200;

type Overdue = Awaited<ReturnType<typeof findOverdueEstimates>>[number];

/** Also deletes estimates of encodes that ended without a result, and old ones. */
export async function announceDelays(ctx: EncodingContext, times: TimesReader): Promise<void> {
  const { db } = ctx;
  const overdue = await findOverdueEstimates(db, MAX_PER_RUN);
  const reading = await times.refresh();
  if (overdue.length > 0 && reading) {
    const late: string[] = [];
    for (const each of overdue) if (await announce(ctx, each, reading)) late.push(each.asset_id);
    const over = overdue.map(({ asset_id: id }) => id).filter((id) => !late.includes(id));
    await postponeEstimates(db, late);
    await deleteEstimates(db, over);
  }
  for (const isLong of [false, true]) await deleteOldEstimates(db, isLong);
}

/** False if the attempt is over. */
async function announce(ctx: EncodingContext, overdue: Overdue, reading: QueueReading): Promise<boolean> {
  const { asset_id: id, attempt, latest_ready_at: expectedLatestAt } = overdue;
  const asset = await ctx.lifecycle.findAssetById(id);
  const isOver = asset?.attempt !== attempt || asset.stream_status !== 'processing' || asset.deleted_at;
  if (!asset || isOver) return false;
  const encode = reading.encodes.get(id);
  // One that has ended, or whose job was lost, is left to the reconcile job.
  const reason =
    encode &&
    findDelayReason(encode, {
      slots: reading.slots,
      isDiskFull: overdue.is_disk_full,
      runs: asset.encode_run,
    });
  if (reason) await ctx.lifecycle.recordDelay(asset, { attempt, reason, expectedLatestAt });
  return true;
}
