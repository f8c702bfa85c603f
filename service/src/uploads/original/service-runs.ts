// Runs of a job by which the service itself gets the bytes of an asset: only the latest can store them.
import { randomUUID } from 'node:crypto';
import type { Asset } from '../../assets/asset.ts';
import type { findAssetById } from '../../assets/asset-lookup.ts';
import type { Bound } from '../../platform/bind.ts';
import type { completeUpload } from '../completion.ts';
import { isAwaited } from '../import/import-progress.ts';
import type { abandonUpload } from './store-original.ts';

export type ServiceRunNeeds = {
  readonly findAssetById: Bound<typeof findAssetById>;
  readonly abandonUpload: Bound<typeof abandonUpload>;
  readonly completeUpload: Bound<typeof completeUpload>;
};

type AwaitedRef = { readonly assetId: string; readonly attempt: number };
/** `previous_upload_id`: of the run before, if there was one. */
type Claim = { readonly previous_upload_id: string | null };
type ClaimRun<C> = (run: AwaitedRef & { readonly uploadId: string }) => Promise<C | undefined>;
type StartedRun<C> = { readonly asset: Asset; readonly uploadId: string; readonly claim: C };

/** Starts a run and ends the one before it, whose worker may be dead. Undefined if the job is over. */
export async function startRun<C extends Claim>(
  needs: Pick<ServiceRunNeeds, 'findAssetById' | 'abandonUpload'>,
  ref: AwaitedRef,
  claimRun: ClaimRun<C>,
): Promise<StartedRun<C> | undefined> {
  if (!(await findAwaiting(needs, ref))) return undefined;
  const uploadId = randomUUID();
  const claim = await claimRun({ assetId: ref.assetId, attempt: ref.attempt, uploadId });
  if (!claim) return undefined;
  if (claim.previous_upload_id !== null) await needs.abandonUpload(ref.assetId, claim.previous_upload_id);
  const asset = await findAwaiting(needs, ref);
  return asset && { asset, uploadId, claim };
}

/** The asset while it waits for the bytes of this attempt. */
export async function findAwaiting(
  { findAssetById: find }: Pick<ServiceRunNeeds, 'findAssetById'>,
  { assetId, attempt }: AwaitedRef,
): Promise<Asset | undefined> {
  const asset = await find(assetId);
  return asset && isAwaited(asset, attempt) ? asset : undefined;
}

/** Checks the stored bytes as `complete` does, and starts processing. False if the bytes were refused. */
export async function completeStored(needs: ServiceRunNeeds, asset: Asset): Promise<boolean> {
  try {
    await needs.completeUpload(asset, { source: 'service' });
    return true;
  } catch (error) {
    const seen = await needs.findAssetById(asset.id);
    if (seen?.stream_status !== 'failed') throw error;
    return false;
  }
}
