// Upkeep: scheduled jobs, purging, and the comparison of the object store with the database.
import type { JobPayloads } from '../jobs.ts';
import type { JobRun } from '../platform/jobs/job-queue.ts';
import { assertTrustedClock } from '../platform/postgres/database-clock.ts';
import { deleteExpiredKeys } from '../platform/http/idempotency.ts';
import { deleteFullBuckets } from '../platform/postgres/token-bucket.ts';
import { deleteOldPurges, purgeCdn } from './cdn-purges.ts';
import { createPartitions, dropExpiredMonths, expireUploads } from './cleanup.ts';
import type { UpkeepContext } from './context.ts';
import { removeOrphanedVideos } from './orphaned-videos.ts';
import { providerTaskJob } from './provider-task.job.ts';
import { purgeAssetJob } from './purge-asset.job.ts';
import { reconcile } from './reconcile.ts';
import { upkeepRoutes } from './upkeep.routes.ts';

export function createUpkeep(ctx: UpkeepContext) {
  const { db, clocks, auth, lifecycle, uploads, events } = ctx;
  const assertTrusted = () => assertTrustedClock(clocks);
  return {
    operations: {},
    routes: upkeepRoutes(ctx),
    jobs: {
      'purge-asset': purgeAssetJob(ctx),
      'provider-task': providerTaskJob(ctx),
      'purge-cdn': ({ payload }: JobRun<JobPayloads['purge-cdn']>) => purgeCdn(ctx, payload),
      reconcile: run(() => reconcile(ctx)),
      'remove-orphaned-videos': run(() => removeOrphanedVideos(ctx)),
      'expire-uploads': run(
        assertTrusted,
        uploads.finishCompleteUploads,
        () => expireUploads(ctx),
        uploads.pruneUploads,
        uploads.removeExpiredSources,
      ),
      'remove-deferred': run(lifecycle.removeDueObjects),
      'delete-expired-keys': run(
        () => deleteExpiredKeys(db),
        () => deleteFullBuckets(db),
        auth.deleteOldUploadTokens,
        auth.deleteEndedSessions,
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
