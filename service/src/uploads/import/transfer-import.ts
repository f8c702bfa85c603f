// The second step of an import { completeStored } from '../service-runs.ts';
import { newEvent } from '../../assets/asset-event.ts';
import type { Asset } from '../../assets/asset.ts';
import type { JobPayloads } from '../../jobs.ts';
import { toWarnings } from '@mediary/media-rules/warnings';
import type { ProviderError } from '../../providers/provider.ts';
import { checkContent } from '../completion.ts';
import { toContentFailure } from '../content-check.ts';
import type { UploadsContext } from '../context.ts';
import { completeStored } from '../service-runs.ts';
import type { ImportRun, OpenTransfer } from './import-runs.ts';
import { deleteImport, recordTransfer } from './imports.sql.ts';
import { decideRelease, decideTransferEnd, decideTransferStart } from './transfer-decisions.ts';

/**
 * Checks the stored bytes as `complete` does, and starts the job that sends them to the provider. False if
 * the bytes were refused.
 */
async function startTransfer(ctx: UploadsContext, asset: Asset): Promise<boolean> {
  const checked = await checkContent(ctx, asset);
  if (typeof checked === 'string') {
    await ctx.lifecycle.refuseAsset(asset, toContentFailure(checked));
    return false;
  }
  const { width, height, durationMs: duration_ms, traits } = checked;
  const file = {
    attempt: asset.attempt,
    facts: { width, height, duration_ms },
    warnings: toWarnings(traits),
  };
  const updated = await ctx.lifecycle.update(asset, (seen) => decideTransferStart(seen, file));
  if (updated?.decision) await ctx.providers.explainWait(updated.asset);
  return true;
}

export const recordOpenTransfer = (
  { db }: UploadsContext,
  { asset, uploadId }: ImportRun,
  transfer: OpenTransfer,
): Promise<unknown> => recordTransfer(db, { assetId: asset.id, uploadId }, transfer);

/** The provider has all bytes. */
export const completeTransfer = (
  { lifecycle }: UploadsContext,
  { asset: { id, attempt } }: ImportRun,
): Promise<unknown> =>
  lifecycle.update({ assetId: id }, (asset, now) => decideTransferEnd(asset, attempt, now));

/** The transfer is over: another request or report moved the asset on. */
export const releaseOriginal = (
  { lifecycle }: UploadsContext,
  { assetId, attempt }: Pick<JobPayloads['transfer-import'], 'assetId' | 'attempt'>,
): Promise<unknown> => lifecycle.update({ assetId }, (asset) => decideRelease(asset, attempt));

/** The timeline explains why the asset waits for its provider. */
export const recordTransferFailure = (
  { lifecycle }: UploadsContext,
  { asset: { id, attempt } }: ImportRun,
  { failure: { code }, providerCode }: ProviderError,
): Promise<unknown> => {
  const data = {
    attempt,
    source: 'service',
    code,
    ...(providerCode !== undefined && { provider_code: providerCode }),
  };
  return lifecycle.update({ assetId: id }, (seen) =>
    seen.deleted_at ? undefined : { set: {}, events: [newEvent('asset.checked', data)], jobs: [] },
  );
};

/** Starts processing, or the transfer to the hosted provider of the asset. Refused bytes end the import. */
export async function completeImport(ctx: UploadsContext, asset: Asset): Promise<void> {
  const isValid = ctx.providers.isHosted(asset)
    ? await startTransfer(ctx, asset)
    : await completeStored(ctx, asset);
  if (!isValid) await deleteImport(ctx.db, asset.id);
}
