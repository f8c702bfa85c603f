// Applies the reports of providers to assets: each decision is stored by the one writer.
import type { DeliveryReason } from '@mediary/contract/enums';
import type { Asset, AssetRef } from '../assets/asset.ts';
import type { LifecycleContext } from './context.ts';
import type { AssetWrite } from './decisions/change.ts';
import { decideReport } from './decisions/decide.ts';
import type { Delivery, DeliveryOutcome, StreamReport } from './decisions/stream-report.ts';

/** The asset that a report names, or that was just read, and the delivery that carried it. */
type ReportedBy = { readonly ref: AssetRef | Asset; readonly delivery?: Delivery };

type ReportWrite = AssetWrite & { readonly outcome: DeliveryOutcome };

/** Applies a report to its asset and records its delivery. Undefined, and nothing recorded, without asset. */
export async function applyReport(
  { assets }: LifecycleContext,
  report: StreamReport,
  { ref, delivery }: ReportedBy,
): Promise<DeliveryOutcome | undefined> {
  const updated = await assets.update(ref, (asset, now): ReportWrite => {
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

/** Records a delivery without an asset or without an effect. */
export async function recordDelivery(
  { assets, now }: LifecycleContext,
  delivery: Delivery,
  reason: DeliveryReason,
): Promise<DeliveryOutcome> {
  const outcome = { processed: false, reason };
  await assets.recordDelivery({ ...outcome, delivery, assetId: null, now: now() });
  return outcome;
}
