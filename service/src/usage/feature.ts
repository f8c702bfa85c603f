// Usage: quotas of owners.
import { offer } from '../platform/values/offer.ts';
import type { UsageContext } from './context.ts';
import { findByteQuota, recordDefaultLimits, underQuota } from './usage.ts';
import { ownerLimitsRoutes, usageRoutes } from './usage.routes.ts';

export type Usage = ReturnType<typeof createUsage>['operations'];

export function createUsage(ctx: UsageContext) {
  return {
    operations: {
      ...offer(ctx, { findByteQuota, recordDefaultLimits }),
      underQuota: <T>(owner: string, work: () => Promise<T>) => underQuota(ctx, owner, work),
    },
    routes: [...usageRoutes(ctx), ...ownerLimitsRoutes(ctx)],
    jobs: {},
  };
}
