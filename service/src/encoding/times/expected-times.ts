// When videos are expected to be ready: estimates that follow from the queue of encodes, shared for seconds.
import { type ExpectedTimes, NO_EXPECTED_TIMES } from '@mediary/contract/schemas/assets/expected-times';
import type { ShownAsset } from '../../assets/asset.ts';
import { shareReading } from '../../platform/concurrency/shared-reading.ts';
import type { TimesContext } from '../context.ts';
import { isLong } from '../encode-jobs.ts';
import { findProcessingStarts } from './encode-estimates.sql.ts';
import { estimateWork } from './encode-work.ts';
import { estimate } from './learned-speed.ts';
import { type QueuePlace, placeLast } from './queue-places.ts';
import { type QueueReading, readQueue } from './queue-reading.ts';
import { estimateHosted, statedTimes } from './stated-times.ts';

export type TimesReader = {
  /** Reads what `find` needs for these assets: nothing unless one of them is being processed. */
  prepare(assets: readonly ShownAsset[]): Promise<void>;
  /** Of an asset as it was prepared; without that, of the latest reading while it is recent. */
  find(asset: ShownAsset): ExpectedTimes;
  /** Records estimates of new encodes. Logs a failure. */
  refresh(): Promise<QueueReading | undefined>;
};

const MIN_AGE_MS = 2000;
/** Of the time, for readings of a long queue. */
const MAX_SHARE = 0.05;
/** An older reading says nothing about an asset that is not prepared. */
const MAX_AGE_MS = 60_000;
/** Between the clocks of processes. */
const CLOCK_TOLERANCE_MS = 5000;

export function openTimesReader(ctx: TimesContext): TimesReader {
  let latest: QueueReading | undefined;
  const shared = shareReading({
    read: () => readQueue(ctx, latest?.recorded),
    minAgeMs: MIN_AGE_MS,
    maxShare: MAX_SHARE,
  });
  /** Of hosted videos, by the row that was prepared. */
  const starts = new WeakMap<ShownAsset, Date>();
  const refresh = async (): Promise<QueueReading | undefined> => {
    try {
      latest = await shared();
      return latest;
    } catch (error) {
      ctx.log.warn({ err: error }, 'the queue of encodes cannot be read: no times are expected');
      return undefined;
    }
  };
  return {
    refresh,
    prepare: async (assets) => {
      const processing = assets.filter(isProcessing);
      const hosted = processing.filter((asset) => ctx.isHosted(asset));
      await Promise.all([
        processing.some((asset) => ctx.isEncodedHere(asset)) && refresh(),
        hosted.length > 0 && readStarts(ctx, hosted, starts),
      ]);
    },
    find: (asset) => {
      if (!isProcessing(asset)) return NO_EXPECTED_TIMES;
      if (ctx.isHosted(asset)) return findHosted(ctx, asset, starts.get(asset));
      return latest && ctx.isEncodedHere(asset) ? findEncoded(ctx, asset, latest) : NO_EXPECTED_TIMES;
    },
  };
}

const isProcessing = ({ stream_status, kind, deleted_at }: ShownAsset): boolean =>
  stream_status === 'processing' && kind !== 'image' && deleted_at === null;

async function readStarts(
  { db }: TimesContext,
  assets: readonly ShownAsset[],
  starts: WeakMap<ShownAsset, Date>,
): Promise<void> {
  const found = await findProcessingStarts(
    db,
    assets.map(({ id }) => id),
  );
  for (const asset of assets) {
    const start = found.get(asset.id);
    if (start) starts.set(asset, start);
  }
}

/** A change of the caller counts as a report, which makes the estimate longer. */
function findHosted(ctx: TimesContext, asset: ShownAsset, start: Date | undefined): ExpectedTimes {
  const { progress, updated_at: updatedAt } = asset;
  const [readAtMs, nowMs] = [updatedAt.getTime(), ctx.now().getTime()];
  const ready = start && estimateHosted({ progress, elapsedMs: readAtMs - start.getTime() });
  if (!ready || readAtMs + ready.latestMs < nowMs) return NO_EXPECTED_TIMES;
  const playable = asset.playable_at ? undefined : ready;
  return statedTimes({ readAtMs, nowMs, playable, ready, position: null });
}

function findEncoded(ctx: TimesContext, asset: ShownAsset, reading: QueueReading): ExpectedTimes {
  const { readAtMs, slots, models } = reading;
  const nowMs = ctx.now().getTime();
  const place = nowMs - readAtMs > MAX_AGE_MS ? undefined : findPlace(ctx, asset, reading);
  if (!place) return NO_EXPECTED_TIMES;
  const { position, playableWork, readyWork } = place;
  if (slots === 0) return { ...NO_EXPECTED_TIMES, queue_position: position };
  const model = models[lengthOf(asset)];
  const playable = asset.playable_at ? undefined : estimate(model.playable, playableWork);
  return statedTimes({ readAtMs, nowMs, playable, ready: estimate(model.ready, readyWork), position });
}

const lengthOf = (asset: ShownAsset) => (isLong(asset) ? 'long' : 'short');

/** Undefined for an encode that has ended, whose report is on its way. */
function findPlace(ctx: TimesContext, asset: ShownAsset, reading: QueueReading): QueuePlace | undefined {
  const { readAtMs, slots, places } = reading;
  const found = places.byAsset.get(asset.id);
  const isNew =
    asset.uploaded_at !== null &&
    asset.progress === 0 &&
    asset.updated_at.getTime() > readAtMs - CLOCK_TOLERANCE_MS;
  if (found || !isNew) return found;
  const work = estimateWork(asset, ctx.settings.ladder);
  return placeLast(places.ends[lengthOf(asset)], work, Math.max(1, slots));
}
