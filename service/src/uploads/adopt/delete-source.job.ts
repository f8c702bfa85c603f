// Job that deletes the source of an adoption, once the asset has its bytes and they were accepted.
import type { JobPayloads } from '../../jobs.ts';
import type { JobRun } from '../../platform/jobs/job-queue.ts';
import { originalKey } from '../../storage/object-key.ts';
import type { UploadsContext } from '../context.ts';
import { decideSourceEnd } from './source-end.ts';
import { getSources } from './adoptions.ts';

type Job = JobPayloads['delete-source'];

const CHECK_AGAIN_MS = 5000;

export const deleteSourceJob =
  (ctx: UploadsContext) =>
  async ({ payload }: JobRun<Job>): Promise<void> => {
    const { assetId, uploadId, url, version } = payload;
    const asset = await ctx.lifecycle.findAssetById(assetId);
    const end = decideSourceEnd(asset, uploadId);
    if (!asset || end === 'keep') return;
    if (end === 'wait') return checkAgain(ctx, asset.owner_user_id, payload);
    const storedBytes = await ctx.store.size(originalKey(asset));
    if (storedBytes !== asset.size_bytes)
      throw new Error('the source stays: the original of its asset has another size');
    if (!(await getSources(ctx).remove({ url, version })))
      ctx.log.warn({ asset_id: assetId }, 'the source of an adoption changed, so it is not deleted');
  };

/** A new job, because a failed job has a limited number of retries. */
async function checkAgain(ctx: UploadsContext, ownerUserId: string, payload: Job): Promise<void> {
  const startAfter = new Date(ctx.clocks.now().getTime() + CHECK_AGAIN_MS);
  await ctx.db.transaction((tx) =>
    ctx.jobs.sendFor(tx, ownerUserId, { name: 'delete-source', payload, startAfter }),
  );
}
