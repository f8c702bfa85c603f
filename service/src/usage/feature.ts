// Usage: quotas of owners.
import type { JobPayloads } from '../jobs.ts';
import type { JobRun } from '../platform/jobs/job-queue.ts';
import { offer } from '../platform/values/offer.ts';
import type { UsageContext } from './context.ts';
import { countOwners } from './owner-totals.ts';
import { findByteQuota, recordDefaultLimits, underQuota } from './usage.ts';
import { ownerLimitsRoutes, ownerRoutes, usageRoutes } from './usage.routes.ts';

export type Usage = ReturnType<typeof createUsage>['operations'];

export function createUsage(ctx: UsageContext) {
  return {
    operations: {
      ...offer(ctx, { findByteQuota, recordDefaultLimits }),
      underQuota: <T>(owner: string, work: () => Promise<T>) => underQuota(ctx, owner, work),
    },
    routes: [...usageRoutes(ctx), ...ownerRoutes(ctx), ...ownerLimitsRoutes(ctx)],
    jobs: { 'count-owners': ({ signal }: JobRun<JobPayloads['count-owners']>) => countOwners(ctx, signal) },
  };
}
