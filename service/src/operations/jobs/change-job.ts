// Runs a job again, or cancels it, so that its asset is never left in a state that nobody ends.
import type { Job } from '@mediary/contract/schemas/admin/jobs';
import { conflict } from '../../platform/http/errors.ts';
import type { JobRecord } from '../../platform/jobs/job-list.ts';
import type { OperationsContext } from '../context.ts';
import { type CancelRule, findCancelRule } from './cancel-rules.ts';
import { findQueueName, getJob, getJobRecord } from './jobs.ts';

/** Idempotent: a job that waits or runs already is not changed. */
export async function runJobAgain(ctx: OperationsContext, id: string): Promise<Job> {
  const { state, queue } = await getJobRecord(ctx, id);
  const { control } = ctx.jobs;
  if (state === 'completed' || state === 'cancelled')
    throw conflict(`The job is ${state}: only a failed or delayed job can run again.`, {
      reason: 'job_ended',
    });
  if (state === 'failed') await control.retry(queue, id);
  if (state === 'delayed') await control.startNow(queue, id);
  if (state === 'failed' || state === 'delayed')
    ctx.log.info({ job: queue, job_id: id }, 'an operator runs a job again');
  return getJob(ctx, id);
}

/**
 * Idempotent. The asset changes first: if the process ends in between, the job finds nothing to do. A job
 * that starts in between is cancelled while it runs, which is as safe.
 */
export async function cancelJob(ctx: OperationsContext, id: string): Promise<Job> {
  const job = await getJobRecord(ctx, id);
  if (job.state === 'cancelled') return getJob(ctx, id);
  const rule = findCancelRule(findQueueName(ctx, job.queue).name);
  assertCancellable(job, rule);
  await cancelWork(ctx, job, rule);
  // The worker of an encode or an import sees within two seconds that its asset has no use for it.
  if (job.state !== 'active' || rule.effect === 'optional') await ctx.jobs.control.cancel(job.queue, id);
  ctx.log.info(
    { job: job.queue, job_id: id, asset_id: job.payload['assetId'] },
    'an operator cancelled a job',
  );
  return getJob(ctx, id);
}

/** Throws CONFLICT. */
function assertCancellable({ state, queue }: JobRecord, rule: CancelRule): void {
  if (state === 'completed' || state === 'failed')
    throw conflict(`The job has ${state === 'failed' ? 'failed' : 'succeeded'} already.`, {
      reason: 'job_ended',
    });
  if (rule.effect === 'required')
    throw conflict(`The job "${queue}" cannot be cancelled: ${rule.because}.`, { reason: 'job_required' });
  if (rule.effect === 'scheduled' && state === 'active')
    throw conflict(`The job "${queue}" runs, and ends soon by itself.`, { reason: 'job_active' });
}

/** Changes nothing for a job of an earlier attempt or of a deleted asset: it would end without work. */
async function cancelWork(
  { lifecycle }: OperationsContext,
  { payload, queue }: JobRecord,
  { effect }: CancelRule,
): Promise<void> {
  const { assetId, attempt } = payload;
  if (effect === 'optional' || effect === 'scheduled') return;
  const asset = await lifecycle.findAssetById(String(assetId));
  if (!asset || asset.deleted_at) return;
  if (effect === 'image') await lifecycle.cancelImage(asset);
  if (effect === 'bytes') await lifecycle.cancelBytes(asset, Number(attempt));
  if (effect !== 'encode' || asset.attempt !== attempt) return;
  const now = await lifecycle.cancelEncoding(asset);
  // Its files are stored: `deliver-report` makes it ready.
  if (now.stream_status === 'processing' && now.attempt === attempt)
    throw conflict(`The job "${queue}" has done its work: only the report of the encode is missing.`, {
      reason: 'job_required',
      stream_status: now.stream_status,
    });
}
