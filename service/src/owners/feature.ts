// Owners: erases, exports and imports all that is kept of one owner.
import type { JobPayloads } from '../jobs.ts';
import { createConcurrencyLimit } from '../platform/concurrency/concurrency-limit.ts';
import type { JobRun } from '../platform/jobs/job-queue.ts';
import type { OwnersContext } from './context.ts';
import { eraseVideos, runErasure } from './erasure-run.ts';
import { ownersRoutes } from './owners.routes.ts';

export function createOwners(outer: Omit<OwnersContext, 'limitExports' | 'limitImports'>) {
  const { ownerExportLimit: exports, ownerImportLimits } = outer.settings;
  const ctx: OwnersContext = {
    ...outer,
    limitExports: createConcurrencyLimit({ total: exports, perKey: exports }),
    limitImports: createConcurrencyLimit({ total: ownerImportLimits.imports, perKey: 1 }),
  };
  return {
    operations: {},
    routes: ownersRoutes(ctx),
    jobs: {
      'erase-owner': ({ payload, signal }: JobRun<JobPayloads['erase-owner']>) =>
        runErasure(ctx, payload.erasureId, signal),
      'erase-videos': ({ payload, signal }: JobRun<JobPayloads['erase-videos']>) =>
        eraseVideos(ctx, payload, signal),
    },
  };
}
