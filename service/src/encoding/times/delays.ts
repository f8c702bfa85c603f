// Announces encodes that are not ready when they were expected, with the reason.
import type { DelayReason } from '@mediary/contract/enums';
import type { Asset } from '../../assets/asset.ts';
import type { EncodingContext } from '../context.ts';
import {
  deleteEstimates,
  deleteOldSamples,
  findOverdueEstimates,
  postponeEstimates,
} from './encode-estimates.sql.ts';
import type { TimesReader } from './expected-times.ts';
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
  for (const isLong of [false, true]) await deleteOldSamples(db, isLong);
}

/** False if the attempt is over. */
async function announce(ctx: EncodingContext, overdue: Overdue, reading: QueueReading): Promise<boolean> {
  const { asset_id: id, attempt, latest_ready_at: expectedLatestAt } = overdue;
  const asset = await ctx.lifecycle.findAssetById(id);
  const isOver = asset?.attempt !== attempt || asset.stream_status !== 'processing' || asset.deleted_at;
  if (!asset || isOver) return false;
  const reason = findReason(asset, overdue, reading);
  if (reason) await ctx.lifecycle.recordDelay(asset, { attempt, reason, expectedLatestAt });
  return true;
}

type Found = Pick<Overdue, 'is_disk_full'>;
type Queue = Pick<QueueReading, 'slots' | 'encodes'>;

/** Undefined for an encode that has ended, or whose job was lost: the reconcile job sees to it. */
export function findReason(
  asset: Pick<Asset, 'id' | 'encode_run'>,
  { is_disk_full: isDiskFull }: Found,
  { slots, encodes }: Queue,
): DelayReason | undefined {
  const encode = encodes.get(asset.id);
  if (!encode) return undefined;
  if (isDiskFull) return 'disk_full';
  if (slots === 0) return 'no_worker';
  if (!encode.isRunning) return 'waiting_for_slot';
  return asset.encode_run > 1 ? 'encode_restarted' : 'encoding_slow';
}
