// Upkeep: scheduled jobs, purging, and the comparison of the object store with the database.
import { findOrphans } from '@mediary/contract/operations/operators';
import type { AppContext } from '../app-context.ts';
import * as growingOperations from '../encoding/jobs/growing-manifests.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import { bind } from '../platform/bind.ts';
import type { AsOperator } from '../platform/http/route.ts';
import { deleteExpiredKeys } from '../platform/http/idempotency.ts';
import { deleteFullBuckets } from '../platform/postgres/token-bucket.ts';
import type { Providers } from '../providers/feature.ts';
import type { Uploads } from '../uploads/feature.ts';
import * as cleanupOperations from './cleanup.ts';
import * as orphanOperations from './orphans.ts';
import * as videoOperations from './orphaned-videos.ts';
import { providerTaskJob } from './provider-task.job.ts';
import { purgeAssetJob } from './purge-asset.job.ts';
import * as reconcileOperations from './reconcile.ts';

type Needs = AppContext & {
  readonly lifecycle: Lifecycle;
  readonly hosted: Providers;
  readonly uploads: Uploads;
  readonly emptyTrash: () => Promise<unknown>;
  readonly deleteOldEndpointDeliveries: () => Promise<unknown>;
  readonly asOperator: AsOperator;
};

export function createUpkeep(context: Needs) {
  const { db, config, lifecycle, hosted, uploads, emptyTrash, asOperator } = context;
  const needs = {
    ...context,
    ...lifecycle,
    ...hosted,
    ...uploads,
    webhookRetentionDays: config.webhookRetentionDays,
  };
  const { expireUploads, createPartitions, dropDeliveries } = bind(needs, cleanupOperations);
  const orphans = bind(needs, orphanOperations);
  const { reconcile, reconcileAsset } = bind(needs, reconcileOperations);
  const { removeOrphanedVideos } = bind(needs, videoOperations);
  return {
    operations: {},
    routes: [asOperator(findOrphans, ({ body }) => orphans.findOrphans({ remove: body.remove === true }))],
    jobs: {
      'purge-asset': purgeAssetJob({ ...needs, ...orphans, ...bind({ db }, growingOperations) }),
      'provider-task': providerTaskJob({ ...lifecycle, ...hosted, reconcileAsset, removeOrphanedVideos }),
      reconcile: run(reconcile),
      'remove-orphaned-videos': run(removeOrphanedVideos),
      'expire-uploads': run(
        uploads.finishCompleteUploads,
        expireUploads,
        uploads.pruneUploads,
        uploads.removeExpiredSources,
      ),
      'empty-trash': run(emptyTrash),
      'delete-expired-keys': run(
        () => deleteExpiredKeys(db),
        () => deleteFullBuckets(db),
      ),
      'maintain-partitions': run(createPartitions, dropDeliveries, context.deleteOldEndpointDeliveries),
    },
  };
}

/** A job without a payload that runs its steps in order. */
const run =
  (...steps: readonly (() => Promise<unknown>)[]) =>
  async (): Promise<void> => {
    for (const step of steps) await step();
  };
