// The one place that stores what a report does to an asset: read, decide, compare-and-set; a lost race reads again.
import type { ServiceJobs, StartJob } from '../jobs.ts';
import { notFound, unavailable } from '../platform/errors.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { RunExclusive } from '../platform/concurrency/keyed-mutex.ts';
import type { Asset, AssetRef, Failure } from '../assets/asset.ts';
import type { EventData } from '../assets/asset-event.ts';
import type { AssetBatches } from './asset-loader.ts';
import { findAssets } from './assets.sql.ts';
import { cancelled } from './cancellation.ts';
import { storeChanges } from './store.sql.ts';
import {
  type Change,
  decideCompletion,
  decideReport,
  type CheckRecord,
  decideCheck,
  decidePoster,
  decideRefusal,
  decideRetry,
  type StreamState,
} from './decide.ts';
import { decideReopening, type Reopening } from './reopening.ts';
import type { Delivery, Outcome } from './delivery.ts';
import type { Reason, StreamReport } from './stream-report.ts';

export type ReportNeeds = {
  readonly db: Database;
  readonly batches: AssetBatches;
  readonly jobs: ServiceJobs;
  readonly inTurn: RunExclusive;
  readonly now: () => Date;
};
export type Cause = { readonly ref: AssetRef; readonly delivery?: Delivery };

/** More writers than this at one asset at one moment are a fault, not a race. */
const MAX_RACES = 50;

/** Applies a report to the asset it names, and keeps the delivery it came in. Undefined: no such asset, and nothing was kept. */
export const applyReport = (
  needs: ReportNeeds,
  report: StreamReport,
  cause: Cause,
): Promise<Outcome | undefined> =>
  needs.inTurn(
    'assetId' in cause.ref ? cause.ref.assetId : `${cause.ref.provider} ${cause.ref.providerVideoId}`,
    () => applyNow(needs, report, cause),
  );

async function applyNow(
  needs: ReportNeeds,
  report: StreamReport,
  { ref, delivery }: Cause,
): Promise<Outcome | undefined> {
  const { batches, now } = needs;
  for (let race = 0; race < MAX_RACES; race++) {
    const asset = await findReportedAsset(needs, ref);
    if (!asset) return undefined;
    const { change, ...outcome } = decideReport(asset, report, now());
    const kept = delivery && { ...outcome, delivery, assetId: asset.id, now: now() };
    if (!change) {
      if (kept) await batches.keepDelivery(kept);
      return outcome;
    }
    if (await batches.store({ seen: asset, change, kept, now: now() })) return outcome;
  }
  throw unavailable(`The asset changed ${MAX_RACES} times while a report was applied`);
}

/** Keeps a delivery that reached no asset, or says nothing that can be acted on. */
export async function recordDelivery(
  { batches, now }: ReportNeeds,
  delivery: Delivery,
  reason: Reason,
): Promise<Outcome> {
  const outcome = { processed: false, reason };
  await batches.keepDelivery({ ...outcome, delivery, assetId: null, now: now() });
  return outcome;
}

/** `job` goes on once the bytes are found good; undefined where a provider does it by itself. */
export type Completion = {
  readonly facts: Partial<Pick<StreamState, 'width' | 'height' | 'duration_ms'>>;
  readonly job: StartJob | undefined;
  readonly note: EventData;
};

/** The bytes are there and good: state, event and the job that goes on are stored together. Said before: nothing changes. */
export const completeAsset = (
  needs: ReportNeeds,
  asset: Asset,
  { facts, job, note }: Completion,
): Promise<Asset> =>
  start(needs, asset, { job, decide: (seen) => decideCompletion(seen, { facts, note, now: needs.now() }) });

/** The service itself refuses the asset, for good; its bytes are removed by a job. */
export const refuseAsset = (needs: ReportNeeds, asset: Asset, failure: Failure): Promise<Asset> =>
  start(needs, asset, {
    job: { name: 'purge-asset', payload: { assetId: asset.id } },
    decide: (seen) => (seen.stream_status === 'pending_upload' ? decideRefusal(seen, failure) : undefined),
  });

/** Another attempt after a failure; nothing changes where there was none, or somebody was faster. */
export const retryAsset = (
  needs: ReportNeeds,
  asset: Asset,
  { job, note }: { job: StartJob | undefined; note: EventData },
): Promise<Asset> =>
  start(needs, asset, {
    job,
    decide: (seen) => (seen.attempt === asset.attempt ? decideRetry(seen, note, needs.now()) : undefined),
  });

/** Another attempt with another upload; a job removes what is left of the earlier bytes. */
export const reopenAsset = (needs: ReportNeeds, asset: Asset, reopening: Reopening): Promise<Asset> =>
  start(needs, asset, {
    job: { name: 'purge-asset', payload: { assetId: asset.id } },
    decide: (seen) => (seen.attempt === asset.attempt ? decideReopening(seen, reopening) : undefined),
  });

/** Notes what the sweep saw, and starts a job that had vanished; nothing where the asset moved meanwhile. */
export const recordCheck = (
  needs: ReportNeeds,
  asset: Asset,
  { job, ...seenBySweep }: CheckRecord & { readonly job?: StartJob | undefined },
): Promise<Asset> =>
  start(needs, asset, {
    job,
    decide: (seen) => (seen.revision === asset.revision ? decideCheck(seen, seenBySweep) : undefined),
  });

/** Stops the encoding of a video, as an operator wants it; nothing where none is under way. */
export const cancel = (needs: ReportNeeds, asset: Asset): Promise<Asset> =>
  start(needs, asset, { job: undefined, decide: cancelled });

/** Shows the picture that was made of a video; nothing where something else is wanted by now. */
export const showPoster = (needs: ReportNeeds, made: Asset): Promise<Asset> =>
  start(needs, made, { job: undefined, decide: (seen) => decidePoster(seen, made) });

type Start = { readonly job: StartJob | undefined; readonly decide: (seen: Asset) => Change | undefined };

/** An owner's jobs are sent one after the other: their transactions would wait for each other with connections that others need. */
const start = (needs: ReportNeeds, asset: Asset, starting: Start): Promise<Asset> =>
  starting.job
    ? needs.inTurn(`owner ${asset.owner_user_id}`, () => startNow(needs, asset, starting))
    : startNow(needs, asset, starting);

async function startNow(
  { db, jobs, now }: ReportNeeds,
  { id }: Asset,
  { job, decide: decideStart }: Start,
): Promise<Asset> {
  for (let race = 0; race < MAX_RACES; race++) {
    const stored = await db.transaction(async (tx) => {
      const [seen] = await findAssets(tx, [id]);
      if (!seen || seen.deleted_at) throw notFound('No such asset');
      const change = decideStart(seen);
      if (!change) return seen;
      const [moved] = await storeChanges(tx, [{ seen, change, kept: undefined, now: now() }]);
      if (moved && job) await jobs.sendFor(tx, seen.owner_user_id, job as never);
      return moved;
    });
    if (stored) return stored;
  }
  throw new Error(`asset changed ${MAX_RACES} times while it was completed`);
}

/** The asset that a report names. */
export const findReportedAsset = ({ batches }: ReportNeeds, ref: AssetRef): Promise<Asset | undefined> =>
  'assetId' in ref ? batches.find(ref.assetId) : batches.findByVideo(ref);
