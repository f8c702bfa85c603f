// Encoding: the jobs that make renditions and posters, and the queue as operators see it.
import type { JobPayloads } from '../jobs.ts';
import { offer } from '../platform/values/offer.ts';
import type { JobRun } from '../platform/jobs/job-queue.ts';
import { renditionPrefix } from '../storage/object-key.ts';
import type { EncodingContext, TimesContext } from './context.ts';
import { readIndex } from './stored-index.ts';
import { encodeAssetJob, encodeLongJob } from './jobs/encode-asset.job.ts';
import { encodeChunkJob } from './jobs/encode-chunk.job.ts';
import { encodeQueueRoutes } from './jobs/encode-queue.routes.ts';
import { encodeRestJob } from './jobs/encode-rest.job.ts';
import { deleteGrowingIndexes, findGrowingIndex } from './jobs/growing-indexes.ts';
import { createExtrasJob } from './extras/make-extras.job.ts';
import { createPosterJob } from './extras/make-poster.job.ts';
import { createScratchSpace } from './jobs/scratch-space.ts';
import { createSharedOriginals } from './jobs/shared-originals.ts';
import { announceDelays, deleteOldEstimates } from './times/delays.ts';
import { openTimesReader, type TimesReader } from './times/expected-times.ts';

export type EncodingOperations = ReturnType<typeof createEncoding>['operations'];

/** The context without what `createEncoding` adds. */
type AppPart = Omit<EncodingContext, 'worker'> & {
  readonly worker: Omit<EncodingContext['worker'], 'originals'>;
};

/** `providers`: who encodes the videos of a provider. */
export function createEncoding(app: AppPart, providers: Pick<TimesContext, 'isHosted' | 'isEncodedHere'>) {
  const worker = { ...app.worker, originals: createSharedOriginals(app) };
  const ctx: EncodingContext = { ...app, worker };
  const { isHosted, isEncodedHere } = providers;
  const { settings, db, jobs, log, now } = app;
  const times = openTimesReader({ settings, db, jobs, log, now, isHosted, isEncodedHere });
  return {
    operations: {
      ...offer(ctx, { deleteGrowingIndexes, deleteOldEstimates, findGrowingIndex, readIndex }),
      announceDelays: () => announceDelays(ctx, times),
      expectedTimes: times,
    },
    routes: encodeQueueRoutes(ctx),
    jobs: {
      ...createEncodeJobs(ctx, times),
      // A job of its own, because deleting thousands of files is slow.
      'remove-run-files': async ({ payload }: JobRun<JobPayloads['remove-run-files']>) => {
        const { assetId, folder } = payload;
        await ctx.lifecycle.removeUnlessDeferred(assetId, renditionPrefix(assetId, folder));
      },
      // Retried until the onprem webhook accepts the report.
      'deliver-report': async ({ payload, signal }: JobRun<JobPayloads['deliver-report']>) => {
        await ctx.callback.deliver(payload.body, signal);
      },
      'make-poster': createPosterJob(ctx),
      'make-extras': createExtrasJob(ctx),
    },
  };
}

function createEncodeJobs(ctx: EncodingContext, times: TimesReader) {
  const space = createScratchSpace(ctx);
  const rest = encodeRestJob(ctx);
  /** Estimates are recorded even if nobody looks at the asset. */
  const estimated =
    <Run>(encode: (run: Run) => Promise<void>) =>
    (run: Run): Promise<void> => {
      void times.refresh();
      return encode(run);
    };
  return {
    'encode-asset': estimated(space.forEncodes('encode-asset', encodeAssetJob(ctx))),
    'encode-long': estimated(space.forEncodes('encode-long', encodeLongJob(ctx))),
    'encode-rest': space.forEncodes('encode-rest', rest),
    'encode-long-rest': space.forEncodes('encode-long-rest', rest),
    'encode-divided': space.forEncodes('encode-divided', rest),
    'encode-chunk': space.forChunks(encodeChunkJob(ctx)),
  };
}
