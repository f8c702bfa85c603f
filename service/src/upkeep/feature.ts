// Upkeep: scheduled jobs, purging, and the comparison of the database with what is stored.
import type { JobPayloads } from '../jobs.ts';
import type { JobRun } from '../platform/jobs/job-queue.ts';
import { assertTrustedClock } from '../platform/postgres/database-clock.ts';
import { offer } from '../platform/values/offer.ts';
import { deleteExpiredKeys } from '../platform/http/idempotency.ts';
import { deleteFullBuckets } from '../platform/postgres/token-bucket.ts';
import { deleteOldPurges, purgeCdn } from './cdn-purges.ts';
import { cancelCheck, createCheck, getCheck, listFindings } from './checks/checks.ts';
import { runCheck } from './checks/run-check.ts';
import { createPartitions, dropExpiredMonths, expireUploads } from './cleanup.ts';
import type { UpkeepContext } from './context.ts';
import { removeOrphanedVideos } from './orphaned-videos.ts';
import { providerTaskJob } from './provider-task.job.ts';
import { purgeAssetJob } from './purge-asset.job.ts';
import { isReconcileNeeded, reconcile } from './reconcile.ts';
import { upkeepRoutes } from './upkeep.routes.ts';

export function createUpkeep(ctx: UpkeepContext) {
  const { db, clocks, auth, lifecycle, uploads, events } = ctx;
  const assertTrusted = () => assertTrustedClock(clocks);
  return {
    operations: offer(ctx, { createCheck, runCheck, getCheck, listFindings, cancelCheck }),
    routes: upkeepRoutes(ctx),
    isNeeded: { reconcile: () => isReconcileNeeded(ctx) },
    jobs: {
      'purge-asset': purgeAssetJob(ctx),
      'provider-task': providerTaskJob(ctx),
      'check-storage': ({ payload, signal }: JobRun<JobPayloads['check-storage']>) =>
        runCheck(ctx, payload.checkId, signal),
      'purge-cdn': ({ payload }: JobRun<JobPayloads['purge-cdn']>) => purgeCdn(ctx, payload),
      reconcile: run(ctx.encoding.announceDelays, () => reconcile(ctx)),
      'remove-orphaned-videos': run(() => removeOrphanedVideos(ctx)),
      'expire-uploads': run(
        assertTrusted,
        uploads.finishCompleteUploads,
        () => expireUploads(ctx),
        uploads.pruneUploads,
        uploads.removeExpiredSources,
        uploads.restartLostImports,
        uploads.restartLostClips,
      ),
      'remove-deferred': run(lifecycle.removeDueObjects),
      'delete-expired-keys': run(
        () => deleteExpiredKeys(db),
        () => deleteFullBuckets(db),
        auth.deleteOldUploadTokens,
        auth.deleteEndedSessions,
        ctx.encoding.deleteOldEstimates,
        ctx.providers.deleteStaleWorkers,
      ),
      'maintain-partitions': run(
        () => createPartitions(ctx),
        assertTrusted,
        () => dropExpiredMonths(ctx),
        events.deleteOldEndpointDeliveries,
        () => deleteOldPurges(ctx),
      ),
    },
  };
}

/** A job without a payload that runs its steps in order. */
const run =
  (...steps: readonly (() => Promise<unknown>)[]) =>
  async (): Promise<void> => {
    for (const step of steps) await step();
  };
