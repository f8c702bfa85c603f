// What reports, completions, retries and operators do to an asset: each is a decision that the store applies.
import type { Asset, AssetRef, Failure } from '../assets/asset.ts';
import { notFound } from '../platform/errors.ts';
import { cancelled } from './cancellation.ts';
import type { Decide, Decision } from './change.ts';
import { decideReport } from './decide.ts';
import {
  type CheckRecord,
  type Completion,
  decideCheck,
  decideCompletion,
  decidePoster,
  decideRefusal,
  decideRetry,
  type Retry,
} from './decide-commands.ts';
import { decideReopening, type Reopening } from './reopening.ts';
import type { Delivery, Outcome } from './delivery.ts';
import type { AssetStore } from './store.ts';
import type { Reason, StreamReport } from './stream-report.ts';

export type ReportNeeds = {
  readonly store: Pick<AssetStore, 'update' | 'recordDelivery'>;
  readonly now: () => Date;
};
export type Cause = { readonly ref: AssetRef; readonly delivery?: Delivery };

type ReportedDecision = Decision & { readonly outcome: Outcome };

/** Applies a report to the asset it names, and records the delivery that brought it. Undefined: no such asset, and nothing was recorded. */
export async function applyReport(
  { store }: ReportNeeds,
  report: StreamReport,
  { ref, delivery }: Cause,
): Promise<Outcome | undefined> {
  const updated = await store.update(ref, (asset, now): ReportedDecision => {
    const { change = NO_CHANGE, ...outcome } = decideReport(asset, report, now);
    return {
      ...change,
      outcome,
      delivery: delivery && { ...outcome, delivery, assetId: asset.id, now },
    };
  });
  return updated?.decision.outcome;
}

const NO_CHANGE = { set: {}, events: [], jobs: [] };

/** Records a delivery that names no asset, or says nothing that can be acted on. */
export async function recordDelivery(
  { store, now }: ReportNeeds,
  delivery: Delivery,
  reason: Reason,
): Promise<Outcome> {
  const outcome = { processed: false, reason };
  await store.recordDelivery({ ...outcome, delivery, assetId: null, now: now() });
  return outcome;
}

/** The bytes are there and good: processing starts. A repeated call changes nothing. */
export const completeAsset = (needs: ReportNeeds, asset: Asset, completion: Completion): Promise<Asset> =>
  updateLiving(needs, asset, (seen, now) => decideCompletion(seen, completion, now));

/** The service itself refuses the asset, for good; a job removes its bytes. */
export const refuseAsset = (needs: ReportNeeds, asset: Asset, failure: Failure): Promise<Asset> =>
  updateLiving(needs, asset, (seen) =>
    seen.stream_status === 'pending_upload' ? decideRefusal(seen, failure) : undefined,
  );

/** Another attempt after a failure; changes nothing where another request opened it first. */
export const retryAsset = (needs: ReportNeeds, asset: Asset, retry: Retry): Promise<Asset> =>
  updateLiving(needs, asset, (seen, now) =>
    seen.attempt === asset.attempt ? decideRetry(seen, retry, now) : undefined,
  );

/** Records what the reconcile job found, and starts a lost job again; changes nothing where the asset changed meanwhile. */
export const recordCheck = (needs: ReportNeeds, asset: Asset, check: CheckRecord): Promise<Asset> =>
  updateLiving(needs, asset, (seen) =>
    seen.revision === asset.revision ? decideCheck(seen, check) : undefined,
  );

/** Another attempt with another upload; a job removes what is left of the earlier bytes. */
export const reopenAsset = (needs: ReportNeeds, asset: Asset, reopening: Reopening): Promise<Asset> =>
  updateLiving(needs, asset, (seen) =>
    seen.attempt === asset.attempt ? decideReopening(seen, reopening) : undefined,
  );

/** Stops the encoding of a video for an operator; changes nothing where none is under way. */
export const cancel = (needs: ReportNeeds, asset: Asset): Promise<Asset> =>
  updateLiving(needs, asset, cancelled);

/** Shows the poster that was made; changes nothing where another one is wanted by now. */
export const showPoster = (needs: ReportNeeds, made: Asset): Promise<Asset> =>
  updateLiving(needs, made, (seen) => decidePoster(seen, made));

async function updateLiving({ store }: ReportNeeds, asset: Asset, decide: Decide): Promise<Asset> {
  const updated = await store.update(asset, (seen, now) => {
    if (seen.deleted_at) throw notFound('No such asset');
    return decide(seen, now);
  });
  if (!updated) throw notFound('No such asset');
  return updated.asset;
}
