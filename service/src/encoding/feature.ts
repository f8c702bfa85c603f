// Encoding: the jobs that make renditions and posters, and the queue as operators see it.
import type { AppContext } from '../app-context.ts';
import type { Captions } from '../captions/feature.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import type { JobPayloads } from '../jobs.ts';
import { bind } from '../platform/bind.ts';
import type { AsOperator } from '../platform/http/route.ts';
import type { JobRun } from '../platform/jobs/job-queue.ts';
import { renditionPrefix } from '../storage/object-key.ts';
import type { ScratchReservations } from '../platform/process/scratch-reservations.ts';
import { deleteManifests } from './jobs/growing-manifests.ts';
import { encodeChunkJob } from './jobs/encode-chunk.job.ts';
import * as chunkOperations from './jobs/encode-chunks.ts';
import { encodeAssetJob, encodeLongJob } from './jobs/encode-asset.job.ts';
import * as checkpointOperations from './jobs/encode-checkpoints.ts';
import { encodeRestJob, type RestNeeds } from './jobs/encode-rest.job.ts';
import * as queueOperations from './jobs/encode-queue.ts';
import { encodeQueueRoutes } from './jobs/encode-queue.routes.ts';
import * as growingOperations from './jobs/growing-manifests.ts';
import * as runOperations from './jobs/encode-runs.ts';
import { createExtrasJob } from './jobs/make-extras.job.ts';
import { createPosterJob } from './jobs/make-poster.job.ts';
import { createScratchSpace } from './jobs/scratch-space.ts';
import { createSharedOriginals } from './jobs/shared-originals.ts';

type Needs = AppContext & {
  readonly lifecycle: Lifecycle;
  readonly captions: Captions;
  readonly files: Pick<RestNeeds, 'findLocalFile'>;
  readonly asOperator: AsOperator;
  readonly scratchReservations: ScratchReservations;
};

export type EncodingOperations = ReturnType<typeof createEncoding>['operations'];

export function createEncoding(needs: Needs) {
  const { db, jobs, lifecycle, asOperator, store, encoder, callback, scratchRoot, config } = needs;
  return {
    operations: bind({ db }, { deleteManifests }),
    routes: encodeQueueRoutes(bind({ db, jobs, ...lifecycle }, queueOperations), asOperator),
    jobs: {
      ...createEncodeJobs(needs),
      // A job of its own, because deleting thousands of files is slow.
      'remove-run-files': async ({ payload }: JobRun<JobPayloads['remove-run-files']>) => {
        const { assetId, folder } = payload;
        await lifecycle.removeUnlessDeferred(assetId, renditionPrefix(assetId, folder));
      },
      // Retried until the onprem webhook accepts the report.
      'deliver-report': async ({ payload, signal }: JobRun<JobPayloads['deliver-report']>) => {
        await callback.deliver(payload.body, signal);
      },
      'make-poster': createPosterJob({ ...lifecycle, store, encoder, scratchRoot }),
      'make-extras': createExtrasJob({
        ...needs,
        ...lifecycle,
        extras: config.videoExtras,
        minFreeBytes: config.minFreeBytes,
      }),
    },
  };
}

function createEncodeJobs({ lifecycle, captions, files, ...needs }: Needs) {
  const { db, jobs, workerName, config } = needs;
  const runs = {
    ...bind({ db, jobs, workerName, assetStore: lifecycle.assetStore }, runOperations),
    ...bind({ db }, growingOperations),
    ...bind({ ...needs, ...lifecycle }, chunkOperations),
    ...bind({ ...needs, ...lifecycle }, checkpointOperations),
  };
  const space = createScratchSpace({ ...needs, ...runs, ...lifecycle, ladder: config.ladder });
  const originals = createSharedOriginals({ ...needs, ...files });
  const shared = { ...needs, ...runs, ...lifecycle, ...files, ...captions, originals };
  const encode = { ...shared, chunkSeconds: config.encodeChunkSeconds };
  const rest = encodeRestJob(encode);
  return {
    'encode-asset': space.forEncodes('encode-asset', encodeAssetJob(encode)),
    'encode-long': space.forEncodes('encode-long', encodeLongJob(encode)),
    'encode-rest': space.forEncodes('encode-rest', rest),
    'encode-long-rest': space.forEncodes('encode-long-rest', rest),
    'encode-divided': space.forEncodes('encode-divided', rest),
    'encode-chunk': space.forChunks(encodeChunkJob({ ...needs, ...runs, originals })),
  };
}
