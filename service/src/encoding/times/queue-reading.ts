// One reading of the queue of encodes, with the speed that this installation has shown.
import type { TimesContext } from '../context.ts';
import { isRestJob } from '../encode-jobs.ts';
import { findOpenEncodes } from '../jobs/encode-queue.ts';
import { countSlots, type EncodeEstimate, findSamples, recordEstimates } from './encode-estimates.sql.ts';
import { type EncodeSource, estimateWork } from './encode-work.ts';
import { estimate, learnSpeed, type SpeedModel } from './learned-speed.ts';
import { isLongQueue, type OpenEncode, placeEncodes, type QueuePlaces } from './queue-places.ts';

type LengthModels = { readonly playable: SpeedModel; readonly ready: SpeedModel };

export type QueueReading = {
  readonly readAtMs: number;
  /** Of each kind of encode; 0: no worker runs. */
  readonly slots: number;
  readonly places: QueuePlaces;
  readonly models: Readonly<Record<'short' | 'long', LengthModels>>;
  readonly encodes: ReadonlyMap<string, OpenEncode>;
  /** Assets and attempts whose estimate is recorded. */
  readonly recorded: ReadonlySet<string>;
};

type Encodes = Awaited<ReturnType<typeof findOpenEncodes>>;

/** Also records an estimate of every encode that has none. `recorded`: of the reading before. */
export async function readQueue(
  ctx: TimesContext,
  recorded: ReadonlySet<string> = new Set(),
): Promise<QueueReading> {
  const { db, jobs } = ctx;
  const readAtMs = ctx.now().getTime();
  const [found, slots, short, long] = await Promise.all([
    findOpenEncodes(db, jobs),
    countSlots(db),
    learnModels(ctx, false),
    learnModels(ctx, true),
  ]);
  const encodes = found.map((each) => toOpenEncode(ctx, each));
  const reading: QueueReading = {
    readAtMs,
    slots,
    places: placeEncodes(encodes, Math.max(1, slots)),
    models: { short, long },
    encodes: new Map(encodes.map((encode) => [encode.assetId, encode])),
    recorded: new Set(slots > 0 ? found.map(keyOf) : []),
  };
  const added = slots > 0 ? found.filter((each) => !recorded.has(keyOf(each))) : [];
  if (added.length > 0) await recordEstimates(db, toEstimates(added, reading));
  return reading;
}

const keyOf = ({ asset }: Encodes[number]): string => `${asset.id} ${asset.attempt}`;

async function learnModels({ db }: TimesContext, isLong: boolean): Promise<LengthModels> {
  const { playable, ready } = await findSamples(db, isLong);
  return { playable: learnSpeed(playable), ready: learnSpeed(ready) };
}

const toOpenEncode = ({ settings }: TimesContext, { job, asset }: Encodes[number]): OpenEncode => ({
  assetId: asset.id,
  queue: job.queue,
  isRunning: job.isRunning,
  progress: asset.progress,
  work: estimateWork(asset as EncodeSource, settings.ladder),
});

/** A little too late is no delay. */
const MARGIN = 0.25;
const MIN_MARGIN_MS = 30_000;

const toEstimates = (found: Encodes, { places, models }: QueueReading): EncodeEstimate[] =>
  found.flatMap(({ job, asset }) => {
    const place = places.byAsset.get(asset.id);
    if (!place) return [];
    const isLong = isLongQueue(job.queue);
    const { latestMs } = estimate(models[isLong ? 'long' : 'short'].ready, place.readyWork);
    const marginMs = Math.max(MIN_MARGIN_MS, latestMs * MARGIN);
    return [
      {
        asset_id: asset.id,
        attempt: asset.attempt,
        is_long: isLong,
        playable_work: asset.playable_at || isRestJob(job.queue) ? null : Math.ceil(place.playableWork),
        ready_work: Math.ceil(place.readyWork),
        latest_ms: Math.ceil(latestMs),
        delayed_ms: Math.ceil(latestMs + marginMs),
      },
    ];
  });
