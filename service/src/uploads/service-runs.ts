// Runs of a job by which the service itself gets the bytes of an asset: only the latest can store them.
import { randomUUID } from 'node:crypto';
import type { Asset } from '../assets/asset.ts';
import type { JobRequest } from '../jobs.ts';
import { isUnavailable } from '../platform/http/errors.ts';
import { awaitsService } from './byte-rules.ts';
import { findClip } from './clip/clips.sql.ts';
import { completeUpload } from './completion.ts';
import type { UploadsContext } from './context.ts';
import { findImport } from './import/imports.sql.ts';
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
 * file is not at fault. The queue limits such runs of a job, and `restartLost` starts them again.
 */
export async function uncountOutage(error: unknown, uncount: () => Promise<unknown>): Promise<void> {
  if (isUnavailable(error)) await uncount();
}

/**
 * Whether the service itself gets the bytes of an asset. Only a run of its job ends the wait, because nobody
 * else is late.
 */
export const isFetched = async ({ db }: UploadsContext, assetId: string): Promise<boolean> =>
  (await findImport(db, assetId)) !== undefined || (await findClip(db, assetId)) !== undefined;

const BATCH = 500;
/** Each of them gets the bytes of its asset. A hosted provider has a queue of its own. */
const QUEUES = /^(?:import-asset|adopt-asset|transfer-import|clip-asset)(?:\.|$)/;

/** The job that starts a run. */
type RunJob = Extract<JobRequest, { readonly name: 'import-asset' | 'adopt-asset' | 'clip-asset' }>;
/** Lists the jobs of assets that wait for their bytes, in the order of their ids, after an id. */
type ListRuns = (afterId: string | null, limit: number) => Promise<readonly RunJob[]>;

/** Starts runs again whose jobs ended for good: an outage lasted longer than their retries. */
export async function restartLost(ctx: UploadsContext, listRuns: ListRuns): Promise<void> {
  let afterId: string | null = null;
  for (;;) {
    const runs: readonly RunJob[] = await listRuns(afterId, BATCH);
    const open = await ctx.jobs.listOpenSubjects(runs.map(({ payload }) => payload.assetId));
    const underWay = new Set(open.filter(({ queue }) => QUEUES.test(queue)).map(({ subject }) => subject));
    for (const job of runs) if (!underWay.has(job.payload.assetId)) await restart(ctx, job);
    afterId = runs.at(-1)?.payload.assetId ?? null;
    if (runs.length < BATCH) return;
  }
}

async function restart(ctx: UploadsContext, job: RunJob): Promise<void> {
  // The job may have ended because the asset moved on.
  const asset = await findAwaiting(ctx, job.payload);
  if (!asset) return;
  const { reconcile_at: checkAt } = asset;
  await ctx.lifecycle.recordCheck(asset, { data: { reason: 'job_lost' }, checkAt, job });
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
