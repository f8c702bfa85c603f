// Announces encodes that are not ready when they were expected, with the reason.
import { collectFailures } from '../../platform/concurrency/collect-failures.ts';
import type { EncodingContext } from '../context.ts';
import {
  deleteEstimates,
  deleteOldEstimates as deleteOldRows,
  findOverdueEstimates,
  postponeEstimates,
} from './encode-estimates.sql.ts';
import type { TimesReader } from './expected-times.ts';
import { findDelayReason } from './queue-places.ts';
import type { QueueReading } from './queue-reading.ts';

/** Bounds one run; the next one, a minute later, goes on. */
const MAX_PER_RUN = 200;

type Overdue = Awaited<ReturnType<typeof findOverdueEstimates>>[number];

/** Also deletes estimates of encodes that ended without a result. */
export async function announceDelays(ctx: EncodingContext, times: TimesReader): Promise<void> {
  const { db } = ctx;
  const overdue = await findOverdueEstimates(db, MAX_PER_RUN);
  const reading = await times.refresh();
  if (overdue.length > 0 && reading) {
    const ids: Record<Finding, string[]> = { over: [], late: [], unexplained: [] };
    const failures = await collectFailures(overdue, async (each) => {
      ids[await announce(ctx, each, reading)].push(each.asset_id);
    });
    for (const error of failures) ctx.log.warn({ err: error }, 'a delay cannot be announced');
    await deleteEstimates(db, ids.over);
    await postponeEstimates(db, ids.late, DAY_S);
    await postponeEstimates(db, ids.unexplained, FEW_MINUTES_S);
  }
}

/** Keeps the latest encodes, from which speeds are learned. */
export async function deleteOldEstimates({ db }: EncodingContext): Promise<void> {
  for (const isLong of [false, true]) await deleteOldRows(db, isLong);
}

const DAY_S = 86_400;
const FEW_MINUTES_S = 300;

/** `unexplained`: the encode has just ended, or its job was lost, which the reconcile job repairs. */
type Finding = 'over' | 'late' | 'unexplained';

async function announce(ctx: EncodingContext, overdue: Overdue, reading: QueueReading): Promise<Finding> {
  const { asset_id: id, attempt, latest_ready_at: expectedLatestAt, is_disk_full: isDiskFull } = overdue;
  const asset = await ctx.lifecycle.findAssetById(id);
  if (asset?.attempt !== attempt || asset.stream_status !== 'processing' || asset.deleted_at) return 'over';
  const encode = reading.encodes.get(id);
  if (!encode) return 'unexplained';
  const reason = findDelayReason(encode, { slots: reading.slots, isDiskFull, runs: asset.encode_run });
  await ctx.lifecycle.recordDelay(asset, { attempt, reason, expectedLatestAt });
  return 'late';
}
