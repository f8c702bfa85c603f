// The second step of an import to a hosted provider: which upload there takes the stored bytes, and how the
// import ends (contract B4).
import type { Asset } from '../../assets/asset.ts';
import { newEvent } from '../../assets/asset-event.ts';
import type { JobPayloads } from '../../jobs.ts';
import type { refuseAsset } from '../../lifecycle/reports.ts';
import type { AssetStore } from '../../lifecycle/store.ts';
import { toWarnings } from '../../media/warnings.ts';
import type { Bound } from '../../platform/bind.ts';
import type { Queries } from '../../platform/postgres/database.ts';
import type { explainWait } from '../../providers/handover.ts';
import type { ProviderError } from '../../providers/provider.ts';
import type { checkContent } from '../completion.ts';
import { toContentFailure } from '../content-check.ts';
import type { ImportRun } from './import-runs.ts';
import { recordTransfer } from './imports.sql.ts';
import { decideRelease, decideTransferEnd, decideTransferStart } from './transfer-decisions.ts';
import type { TusUpload } from './transfer-requests.ts';

/** A tus upload at a hosted provider that a later run can continue. */
export type OpenTransfer = { readonly videoId: string; readonly upload: TusUpload };

type TransferNeeds = {
  readonly db: Queries;
  readonly assetStore: Pick<AssetStore, 'update'>;
  readonly checkContent: Bound<typeof checkContent>;
  readonly refuseAsset: Bound<typeof refuseAsset>;
  readonly explainWait: Bound<typeof explainWait>;
};

/**
 * Checks the stored bytes as `complete` does, and starts the job that sends them to the provider. False if
 * the bytes were refused.
 */
export async function startTransfer(needs: TransferNeeds, asset: Asset): Promise<boolean> {
  const checked = await needs.checkContent(asset);
  if (typeof checked === 'string') {
    await needs.refuseAsset(asset, toContentFailure(checked));
    return false;
  }
  const { width, height, durationMs: duration_ms, traits } = checked;
  const file = {
    attempt: asset.attempt,
    facts: { width, height, duration_ms },
    warnings: toWarnings(traits),
  };
  const updated = await needs.assetStore.update(asset, (seen) => decideTransferStart(seen, file));
  if (updated?.decision) await needs.explainWait(updated.asset);
  return true;
}

export const recordOpenTransfer = (
  { db }: TransferNeeds,
  { asset, uploadId }: ImportRun,
  transfer: OpenTransfer,
): Promise<unknown> => recordTransfer(db, { assetId: asset.id, uploadId }, transfer);

/** The provider has all bytes. */
export const completeTransfer = (
  { assetStore }: TransferNeeds,
  { asset: { id, attempt } }: ImportRun,
): Promise<unknown> =>
  assetStore.update({ assetId: id }, (asset, now) => decideTransferEnd(asset, attempt, now));

/** The transfer is over: another request or report moved the asset on. */
export const releaseOriginal = (
  { assetStore }: TransferNeeds,
  { assetId, attempt }: Pick<JobPayloads['transfer-import'], 'assetId' | 'attempt'>,
): Promise<unknown> => assetStore.update({ assetId }, (asset) => decideRelease(asset, attempt));

/** The timeline explains why the asset waits for its provider. */
export const recordTransferFailure = (
  { assetStore }: TransferNeeds,
  { asset: { id, attempt } }: ImportRun,
  { failure: { code }, providerCode }: ProviderError,
): Promise<unknown> => {
  const data = {
    attempt,
    source: 'service',
    code,
    ...(providerCode !== undefined && { provider_code: providerCode }),
  };
  return assetStore.update({ assetId: id }, (seen) =>
    seen.deleted_at ? undefined : { set: {}, events: [newEvent('asset.checked', data)], jobs: [] },
  );
};
