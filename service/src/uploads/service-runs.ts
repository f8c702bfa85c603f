// Runs of a job by which the service itself gets the bytes of an asset: only the latest can store them.
import { randomUUID } from 'node:crypto';
import type { Asset } from '../assets/asset.ts';
import { isUnavailable } from '../platform/http/errors.ts';
import { awaitsService } from './byte-rules.ts';
import { completeUpload } from './completion.ts';
import type { UploadsContext } from './context.ts';
import { abandonUpload } from './original/store-original.ts';

type AwaitedRef = { readonly assetId: string; readonly attempt: number };
/** `previous_upload_id`: of the run before, if there was one. */
type Claim = { readonly previous_upload_id: string | null };
type ClaimRun<C> = (run: AwaitedRef & { readonly uploadId: string }) => Promise<C | undefined>;
type StartedRun<C> = { readonly asset: Asset; readonly uploadId: string; readonly claim: C };

/** Starts a run and ends the one before it, whose worker may be dead. Undefined if the job is over. */
export async function startRun<C extends Claim>(
  ctx: UploadsContext,
  ref: AwaitedRef,
  claimRun: ClaimRun<C>,
): Promise<StartedRun<C> | undefined> {
  if (!(await findAwaiting(ctx, ref))) return undefined;
  const uploadId = randomUUID();
  const claim = await claimRun({ assetId: ref.assetId, attempt: ref.attempt, uploadId });
  if (!claim) return undefined;
  if (claim.previous_upload_id !== null) await abandonUpload(ctx, ref.assetId, claim.previous_upload_id);
  const asset = await findAwaiting(ctx, ref);
  return asset && { asset, uploadId, claim };
}

/** The asset while it waits for the bytes of this attempt. */
export async function findAwaiting(
  { lifecycle }: UploadsContext,
  { assetId, attempt }: AwaitedRef,
): Promise<Asset | undefined> {
  const asset = await lifecycle.findAssetById(assetId);
  return asset && awaitsService(asset, attempt) ? asset : undefined;
}

/**
 * Takes a run out of the count of its attempt if it met an outage of the store, the disk or the database: the
 * file is not at fault. The queue limits such runs of a job.
 */
export async function uncountOutage(error: unknown, uncount: () => Promise<unknown>): Promise<void> {
  if (isUnavailable(error)) await uncount();
}

/** Checks the stored bytes as `complete` does, and starts processing. False if the bytes were refused. */
export async function completeStored(ctx: UploadsContext, asset: Asset): Promise<boolean> {
  try {
    await completeUpload(ctx, asset, { source: 'service' });
    return true;
  } catch (error) {
    const seen = await ctx.lifecycle.findAssetById(asset.id);
    if (seen?.stream_status !== 'failed') throw error;
    return false;
  }
}
