// Upkeep: what runs by the clock, and the comparison of the object store with the database.
import type { AppContext } from '../app-context.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import { bind } from '../platform/bind.ts';
import type { AsOperator } from '../platform/http/route.ts';
import { deleteExpiredKeys } from '../platform/idempotency.ts';
import { deleteFullBuckets } from '../platform/rate-limiter.ts';
import type { Providers } from '../providers/feature.ts';
import * as expiryOperations from './expiry.ts';
import * as orphanOperations from './orphans.ts';
import { orphanRoutes } from './orphans.routes.ts';
import * as strayOperations from './orphaned-videos.ts';
import * as partitionOperations from './partitions.ts';
import { purgeAssetJob } from './purge-asset.job.ts';
import * as reconcileOperations from './reconcile.ts';

type Needs = AppContext & {
  readonly lifecycle: Lifecycle;
  readonly hosted: Providers;
  readonly emptyTrash: () => Promise<unknown>;
  readonly asOperator: AsOperator;
};

export function createUpkeep(needs: Needs) {
  const { db, store, config, lifecycle, hosted, emptyTrash, asOperator } = needs;
  const shared = { ...needs, ...lifecycle, ...hosted };
  const { reconcile } = bind(shared, reconcileOperations);
  const { removeOrphanedVideos } = bind(shared, strayOperations);
  const { expireUploads } = bind(shared, expiryOperations);
  const { webhookRetentionDays } = config;
  const partitions = bind({ ...needs, webhookRetentionDays }, partitionOperations);
  return {
    operations: {},
    routes: orphanRoutes(
      bind({ ...needs, endExpiredLeases: lifecycle.assetStore.endExpiredLeases }, orphanOperations),
      asOperator,
    ),
    jobs: {
      'purge-asset': purgeAssetJob({ ...lifecycle, store, removeVideo: hosted.removeVideo }),
      reconcile: run(reconcile),
      'remove-stray-videos': run(removeOrphanedVideos),
      'expire-uploads': run(expireUploads),
      'empty-trash': run(emptyTrash),
      'forget-keys': run(
        () => deleteExpiredKeys(db),
        () => deleteFullBuckets(db),
      ),
      'make-partitions': run(partitions.makePartitions, partitions.dropDeliveries),
    },
  };
}

/** A job without a payload: its steps, one after the other. */
const run =
  (...steps: readonly (() => Promise<unknown>)[]) =>
  async (): Promise<void> => {
    for (const step of steps) await step();
  };
