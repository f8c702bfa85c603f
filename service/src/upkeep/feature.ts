// Upkeep: scheduled jobs, purging, and the comparison of the object store with the database.
import { findOrphans, listCdnPurges } from '@mediary/contract/operations/operators';
import type { AppContext } from '../app-context.ts';
import * as growingOperations from '../encoding/jobs/growing-manifests.ts';
import type { JobPayloads } from '../jobs.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import { bind, type BoundOperations } from '../platform/bind.ts';
import type { JobRun } from '../platform/jobs/job-queue.ts';
import type { AsOperator } from '../platform/http/route.ts';
import { assertTrustedClock, openDatabaseClock } from '../platform/postgres/database-clock.ts';
import { deleteExpiredKeys } from '../platform/http/idempotency.ts';
import { deleteFullBuckets } from '../platform/postgres/token-bucket.ts';
import { createGuardedFetch } from '../platform/outbound/guarded-fetch.ts';
import type { ProviderOperations } from '../providers/feature.ts';
import type { Uploads } from '../uploads/feature.ts';
import * as purgeOperations from './cdn-purges.ts';
import * as cleanupOperations from './cleanup.ts';
import * as orphanOperations from './orphans.ts';
import * as videoOperations from './orphaned-videos.ts';
import { providerTaskJob } from './provider-task.job.ts';
import { purgeAssetJob } from './purge-asset.job.ts';
import * as reconcileOperations from './reconcile.ts';

type Needs = AppContext & {
  readonly lifecycle: Lifecycle;
  readonly hosted: ProviderOperations;
  readonly uploads: Uploads;
  readonly emptyTrash: () => Promise<unknown>;
  readonly deleteOldEndpointDeliveries: () => Promise<unknown>;
  readonly deleteOldUploadTokens: () => Promise<unknown>;
  readonly asOperator: AsOperator;
};

export function createUpkeep(context: Needs) {
  const { db, lifecycle, uploads, asOperator } = context;
  const needs = needsOf(context);
  const { expireUploads, createPartitions, dropDeliveries } = bind(needs, cleanupOperations);
  const orphans = bind(needs, orphanOperations);
  const purges = bind(needs, purgeOperations);
  const assertTrusted = () => assertTrustedClock(context);
  const byDatabaseClock = createReconciling(needs);
  const removeOrphanedVideos = run(assertTrusted, bind(needs, videoOperations).removeOrphanedVideos);
  return {
    operations: {},
    routes: upkeepRoutes(asOperator, orphans, purges),
    jobs: {
      'purge-asset': purgeAssetJob({ ...needs, ...orphans, ...bind({ db }, growingOperations) }),
      'provider-task': providerTaskJob({
        ...needs,
        reconcileAsset: (assetId) => byDatabaseClock(({ reconcileAsset }) => reconcileAsset(assetId)),
        removeOrphanedVideos,
      }),
      'purge-cdn': ({ payload }: JobRun<JobPayloads['purge-cdn']>) => purges.purgeCdn(payload),
      reconcile: run(() => byDatabaseClock(({ reconcile }) => reconcile())),
      'remove-orphaned-videos': removeOrphanedVideos,
      'expire-uploads': run(
        assertTrusted,
        uploads.finishCompleteUploads,
        expireUploads,
        uploads.pruneUploads,
        uploads.removeExpiredSources,
      ),
      'empty-trash': run(assertTrusted, context.emptyTrash),
      'remove-deferred': run(lifecycle.removeDueObjects),
      'delete-expired-keys': expireKeys(context),
      'maintain-partitions': run(
        createPartitions,
        assertTrusted,
        dropDeliveries,
        context.deleteOldEndpointDeliveries,
        purges.deleteOldPurges,
      ),
    },
  };
}

const needsOf = ({ config, ...context }: Needs) => ({
  ...context,
  config,
  ...context.lifecycle,
  ...context.hosted,
  ...context.uploads,
  webhookRetentionDays: config.webhookRetentionDays,
  purgeUrl: config.delivery.purgeUrl,
  purgeSecrets: config.delivery.purgeSecrets,
  fetch: createGuardedFetch(PURGE_REQUESTS),
});

const upkeepRoutes = (
  asOperator: AsOperator,
  orphans: Pick<BoundOperations<typeof orphanOperations>, 'sweepOrphans'>,
  purges: Pick<BoundOperations<typeof purgeOperations>, 'listPurges'>,
) => [
  asOperator(findOrphans, ({ body }) => orphans.sweepOrphans(body)),
  asOperator(listCdnPurges, ({ query }) => purges.listPurges(query)),
];

type Reconciling = BoundOperations<typeof reconcileOperations>;
type ReconcilingNeeds = Parameters<typeof reconcileOperations.reconcile>[0] &
  Parameters<typeof assertTrustedClock>[0];

/** Runs work whose deadlines are compared with the database's clock. */
const createReconciling =
  (needs: ReconcilingNeeds) =>
  async <T>(work: (operations: Reconciling) => Promise<T>): Promise<T> => {
    await assertTrustedClock(needs);
    return work(bind({ ...needs, now: await openDatabaseClock(needs.databaseNow) }, reconcileOperations));
  };

/** The operator chose the URL, and the time is shorter than the lease of the job. */
const PURGE_REQUESTS = { allowPrivate: true, limits: { totalMs: 20_000 } };

/** A job without a payload that runs its steps in order. */
const run =
  (...steps: readonly (() => Promise<unknown>)[]) =>
  async (): Promise<void> => {
    for (const step of steps) await step();
  };

const expireKeys = ({ db, deleteOldUploadTokens }: Pick<Needs, 'db' | 'deleteOldUploadTokens'>) =>
  run(
    () => deleteExpiredKeys(db),
    () => deleteFullBuckets(db),
    deleteOldUploadTokens,
  );
