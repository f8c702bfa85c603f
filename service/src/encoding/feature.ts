// Encoding: the jobs that make renditions and posters, and the queue as operators see it.
import type { AppContext } from '../app-context.ts';
import type { Captions } from '../captions/feature.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import type { JobPayloads } from '../jobs.ts';
import { bind } from '../platform/bind.ts';
import type { AsOperator } from '../platform/http/route.ts';
import type { JobRun } from '../platform/jobs/job-queue.ts';
import { renditionPrefix } from '../storage/object-key.ts';
import { encodeAssetJob, type EncodeNeeds } from './jobs/encode-asset.job.ts';
import * as queueOperations from './jobs/encode-queue.ts';
import { encodeQueueRoutes } from './jobs/encode-queue.routes.ts';
import * as growingOperations from './jobs/growing-manifests.ts';
import * as runOperations from './jobs/encode-runs.ts';
import { createPosterJob } from './jobs/make-poster.job.ts';

type Needs = AppContext & {
  readonly lifecycle: Lifecycle;
  readonly captions: Captions;
  readonly files: Pick<EncodeNeeds, 'findLocalFile'>;
  readonly asOperator: AsOperator;
};

export function createEncoding(needs: Needs) {
  const { db, jobs, workerName, lifecycle, captions, files, asOperator, store, encoder, callback } = needs;
  const { scratchRoot, log } = needs;
  const runs = {
    ...bind({ db, jobs, workerName, assetStore: lifecycle.assetStore }, runOperations),
    ...bind({ db }, growingOperations),
  };
  return {
    operations: {},
    routes: encodeQueueRoutes(bind({ db, jobs, ...lifecycle }, queueOperations), asOperator),
    jobs: {
      'encode-asset': encodeAssetJob({
        ...runs,
        ...lifecycle,
        ...files,
        ...captions,
        store,
        encoder,
        callback,
        scratchRoot,
        log,
      }),
      // A job of its own, because deleting thousands of files is slow.
      'remove-run-files': async ({ payload }: JobRun<JobPayloads['remove-run-files']>) => {
        await store.removeAll(renditionPrefix(payload.assetId, payload.folder));
      },
      // Retried until the onprem webhook accepts the report.
      'deliver-report': async ({ payload, signal }: JobRun<JobPayloads['deliver-report']>) => {
        await callback.deliver(payload.body, signal);
      },
      'make-poster': createPosterJob({ ...lifecycle, store, encoder, scratchRoot }),
    },
  };
}
